/* crc32c.c: CRC-32C (Castagnoli, RFC 3720 appendix B.4), masked as TFRecord does. */
#include <omnigram/train.h>

static uint32_t crc32c(const uint8_t *data, int64_t bytes) {
    uint32_t crc = 0xffffffffu;
    for (int64_t i = 0; i < bytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1u)));
    }
    return ~crc;
}

uint32_t og_crc32c_masked(const void *data, int64_t bytes) {
    uint32_t crc = crc32c((const uint8_t *)data, bytes);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}
