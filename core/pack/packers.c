/* packers.c: best-fit decreasing, first-fit and next-fit of lengths into bins. */
#include "pack/plan.h"
#include "pack/residual_bits.h"

#include <omnigram/memory.h>

/* Bins of equal room form a stack (top[room], below[bin]), and a bit set says which rooms there
 * are, so that placing a document costs a constant. Documents of one length are alike: the places
 * of all are found by length first, in one pass over the counts, and handed out in input order
 * afterwards. */
int64_t og_pack_best_fit(const int64_t *lengths, int64_t n, int64_t capacity, const int64_t *count, int64_t *bin_of) {
    og_bits rooms = {{0}, 0};
    int64_t *place = og_alloc(n, sizeof *place); /* bin of the k-th longest document */
    int64_t *below = og_alloc(n, sizeof *below);
    int64_t *top = og_alloc(capacity + 1, sizeof *top);
    int64_t *next = og_alloc(capacity + 1, sizeof *next); /* by length: the next place to hand out */
    int64_t bins = -1, k = 0;
    if (!place || !below || !top || !next || !og_bits_new(&rooms, capacity)) goto done;
    for (int64_t r = 0; r <= capacity; r++) top[r] = -1;
    bins = 0;
    for (int64_t w = capacity; w >= 1; w--) {
        next[w] = k;
        for (int64_t c = count[w]; c > 0; c--) {
            int64_t room = og_bits_next(&rooms, w), bin;
            if (room < 0) {
                bin = bins++;
                room = capacity;
            } else {
                bin = top[room];
                top[room] = below[bin];
                if (top[room] < 0) og_bits_remove(&rooms, room);
            }
            place[k++] = bin;
            room -= w;
            if (room == 0) continue;
            if (top[room] < 0) og_bits_add(&rooms, room);
            below[bin] = top[room];
            top[room] = bin;
        }
    }
    for (int64_t i = 0; i < n; i++) bin_of[i] = place[next[lengths[i]]++];
done:
    og_release(place);
    og_release(below);
    og_release(top);
    og_release(next);
    og_release(rooms.level[0]);
    return bins;
}

/* A complete binary tree over bins in opening order holds the largest room of each subtree;
 * unopened bins have it all. */
int64_t og_pack_first_fit(const int64_t *lengths, int64_t n, int64_t capacity, int64_t *bin_of) {
    int64_t leaves = 1;
    while (leaves < n) leaves *= 2;
    int64_t *room = og_alloc(2 * leaves, sizeof *room);
    if (!room) return -1;
    for (int64_t i = 0; i < 2 * leaves; i++) room[i] = capacity;
    int64_t bins = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t node = 1;
        while (node < leaves) node = room[2 * node] >= lengths[i] ? 2 * node : 2 * node + 1;
        bin_of[i] = node - leaves;
        if (bin_of[i] >= bins) bins = bin_of[i] + 1;
        room[node] -= lengths[i];
        for (node /= 2; node >= 1; node /= 2)
            room[node] = room[2 * node] > room[2 * node + 1] ? room[2 * node] : room[2 * node + 1];
    }
    og_release(room);
    return bins;
}

int64_t og_pack_next_fit(const int64_t *lengths, int64_t n, int64_t capacity, int64_t *bin_of) {
    int64_t bins = 0, room = 0;
    for (int64_t i = 0; i < n; i++) {
        if (lengths[i] > room) {
            bins++;
            room = capacity;
        }
        room -= lengths[i];
        bin_of[i] = bins - 1;
    }
    return bins;
}
