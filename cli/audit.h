/* audit.h: the kinds of `omnigram audit`; each gets the arguments after its word. */
#ifndef OMNIGRAM_CLI_AUDIT_H
#define OMNIGRAM_CLI_AUDIT_H

int og_verb_audit_hash(int argc, char **argv);
int og_verb_audit_isolation(int argc, char **argv);

#endif
