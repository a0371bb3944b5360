/// The outcome of a run for the services that run it: JUnit's XML and Markdown.
#pragma once

#include <jansson.h>
#include <stdio.h>

/// Writes a report as JUnit's XML: the verdict, each condition of --fail-if, and each figure that
/// --compare judges are test cases.
void hc_cl_summary_junit(const json_t *report, FILE *out);

/// Writes a report as a page of Markdown, with the same outcomes as tables, and the main figures.
void hc_cl_summary_markdown(const json_t *report, FILE *out);

/// Writes UTF-8 as the value of an XML attribute, or as XML text: what XML reserves is escaped, and
/// characters that it does not allow are '?'.
void hc_cl_summary_xml(FILE *out, const char *text);

/// Writes UTF-8 as the cell of a Markdown table: what Markdown reserves is escaped, and a line feed
/// is a blank.
void hc_cl_summary_cell(FILE *out, const char *text);
