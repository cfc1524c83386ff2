/* tables_section.h: the section `tables` of a config, for the verbs inspect, table and audit. */
#ifndef OMNIGRAM_TABLES_SECTION_H
#define OMNIGRAM_TABLES_SECTION_H

#include "options.h"

#include <omnigram/tables.h>

/* Reads path (NULL: nothing) with the overrides, which must begin with "tables."; a file without a
 * section `tables` is taken as that section. 0, or an exit status after a message. */
int og_tables_section(const char *verb, const char *path, const og_arguments *arguments, og_config **config,
                      const og_config **tables);
/* --config YAML, which these verbs once called --tables: *config is the one that was given. 0, or 2 after a message. */
int og_tables_option(const char *verb, const char **config, const char *tables);
/* --ids TEXT[,IMAGE[xLEVELS][,AUDIO[xLEVELS]]]: sizes of the vocabularies. 0, or an exit status
 * after a message. */
int og_ids_option(const char *verb, const char *text, og_id_map *ids);

#endif
