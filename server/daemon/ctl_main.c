/// Owns hindcastctl: a request to the admin face of a server, and its exit status.
#define _GNU_SOURCE // argp, asprintf, strcasestr, SOCK_CLOEXEC

#include "common/programs/standard.h"
#include "server/daemon/admin_address.h"
#include "server/daemon/admin_commands.h"
#include "server/daemon/admin_password.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    WAIT_S = 10,          ///< for each piece of an answer
    ANSWER_MAX = 1 << 28, ///< bytes
    ARGUMENTS_MAX = 1 + HC_SV_ADMIN_PARAMETERS,
    WORDS_MAX = ARGUMENTS_MAX + 8, ///< of a command line; one too many is told as such
    WHY_MAX = 4500,
    EXIT_REFUSED = 1, ///< the server refuses, or cannot be reached
    EXIT_USAGE = 2,
};

/// The command line.
struct request {
    const char *at, *password_file;
    const char *arguments[ARGUMENTS_MAX]; ///< [count] the command, and its parameters
    unsigned count;
    bool console; ///< the commands are lines of standard input
    struct hc_sv_admin_address address;
    const struct hc_sv_admin_command *command;
};

static const char default_at[] = "127.0.0.1:40080";
static const char service_at[] = "unix:/run/hindcast/admin.sock"; ///< that of hindcastd.service

// ---- The command line ---------------------------------------------------------------------------

static const struct argp_option options[] = {
    {"admin", 'a', "ADDRESS", 0,
     "The server's --admin: ADDRESS:PORT or unix:/PATH (default: $HINDCAST_ADMIN; without it "
     "unix:/run/hindcast/admin.sock if that is there, or 127.0.0.1:40080)",
     0},
    {"password-file", 'p', "FILE", 0, "The server's --admin-password-file", 0},
    {0}};

/// The value that the command line has for a parameter, which is the `index`th of its command: the
/// first one stands alone, others behind NAME=. NULL: none.
static const char *value_of(const struct request *request, unsigned index,
                            const struct hc_sv_admin_parameter *parameter) {
    size_t size = strlen(parameter->name);
    if (index == 0)
        return request->count > 1 ? request->arguments[1] : NULL;
    for (unsigned i = 2; i < request->count; i++)
        if (strncmp(request->arguments[i], parameter->name, size) == 0 &&
            request->arguments[i][size] == '=')
            return request->arguments[i] + size + 1;
    return NULL;
}

/// Checks that the command has the parameters that it needs, and no others.
static void check_parameters(const struct request *request, struct argp_state *state) {
    const struct hc_sv_admin_command *command = request->command;
    struct hc_sv_admin_parameter parameters[HC_SV_ADMIN_PARAMETERS];
    unsigned count = hc_sv_admin_parameters(command, parameters), found = 0;
    for (unsigned i = 0; i < count; i++) {
        const char *value = value_of(request, i, &parameters[i]);
        bool is_number =
            value != NULL && value[0] != '\0' && strspn(value, "0123456789") == strlen(value);
        found += value != NULL;
        if (!parameters[i].is_text && !is_number && (value != NULL || !parameters[i].optional))
            argp_error(state, "%s needs a number: %s", command->name, parameters[i].name);
        if (value == NULL && !parameters[i].optional)
            argp_error(state, "%s needs a text: %s", command->name, parameters[i].name);
    }
    if (count == 0 && request->count > 1)
        argp_error(state, "%s takes no parameter", command->name);
    if (found != request->count - 1)
        argp_error(state, "%s takes these parameters, each once: %s", command->name,
                   command->parameters);
}

/// Finds the command and checks its parameters.
static void check(struct request *request, struct argp_state *state) {
    if (request->count == 0)
        argp_error(state, "a command is needed");
    request->console = request->count == 1 && strcmp(request->arguments[0], "console") == 0;
    if (request->console)
        return;
    enum hc_sv_admin_command_id id = hc_sv_admin_command_of(request->arguments[0]);
    if (id == HC_SV_ADMIN_COMMAND_COUNT)
        argp_error(state, "unknown command '%s'", request->arguments[0]);
    request->command = &hc_sv_admin_commands[id];
    check_parameters(request, state);
    if (!hc_sv_admin_address_parse(request->at, &request->address))
        argp_error(state, "--admin '%s': must be a numeric address and a port, or unix:/PATH",
                   request->at);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    struct request *request = state->input;
    switch (key) {
    case 'a':
        request->at = text;
        return 0;
    case 'p':
        request->password_file = text;
        return 0;
    case ARGP_KEY_ARG:
        if (request->count == ARGUMENTS_MAX)
            argp_error(state, "unexpected argument '%s'", text);
        request->arguments[request->count++] = text;
        return 0;
    case ARGP_KEY_END:
        check(request, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/// The text of --help about the commands, from their table; the caller frees it.
static char *describe(void) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    fputs("Asks a hindcastd with --admin, or gives it an order.\v"
          "The commands:\n",
          out);
    for (unsigned i = 0; i < HC_SV_ADMIN_COMMAND_COUNT; i++) {
        const struct hc_sv_admin_command *command = &hc_sv_admin_commands[i];
        fprintf(out, "\n  %s%s%s\n%s.\n", command->name, command->parameters[0] != '\0' ? " " : "",
                command->parameters, command->sentence);
    }
    fputs("\n  console\nTakes commands line by line from standard input, until its end or 'exit'. "
          "A text "
          "of several words stands between double quotes.\n",
          out);
    fputs("\nParameters in brackets may be left out, and are written NAME=VALUE, such as match=2.\n"
          "\nThe exit status is 0 if the server has done it, 1 if it refuses or cannot be reached, "
          "and 2 for a wrong command line. docs/OPERATING.md explains the answers.",
          out);
    return fclose(out) == 0 ? text : NULL;
}

// ---- The request --------------------------------------------------------------------------------

/// Reads the password, and makes the header with it, which the caller frees; "": none is given.
/// NULL: it cannot be read, with a sentence on standard error.
static char *make_authorization(const struct request *request) {
    struct hc_sv_admin_credentials credentials;
    char why[WHY_MAX], *header = NULL;
    char
        base64[sodium_base64_ENCODED_LEN(sizeof(credentials.text), sodium_base64_VARIANT_ORIGINAL)];
    if (request->password_file == NULL)
        return strdup("");
    if (!hc_sv_admin_credentials_read(request->password_file, &credentials, why, sizeof(why))) {
        fprintf(stderr, "hindcastctl: %s\n", why);
        return NULL;
    }
    sodium_bin2base64(base64, sizeof(base64), (const unsigned char *)credentials.text,
                      strlen(credentials.text), sodium_base64_VARIANT_ORIGINAL);
    if (asprintf(&header, "Authorization: Basic %s\r\n", base64) < 0)
        header = NULL;
    sodium_memzero(&credentials, sizeof(credentials));
    sodium_memzero(base64, sizeof(base64));
    return header;
}

/// Connects to the server; -1: failed, see errno.
static int connect_to(const struct hc_sv_admin_address *address) {
    const struct timeval wait = {.tv_sec = WAIT_S};
    int descriptor = socket(address->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -1;
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    if (connect(descriptor, (const struct sockaddr *)&address->address, address->size) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/// Writes a value of a form.
static void put_escaped(const char *text, FILE *out) {
    for (; *text != '\0'; text++)
        if (isalnum((unsigned char)*text))
            fputc(*text, out);
        else
            fprintf(out, "%%%02X", (unsigned char)*text);
}

/// The body with the parameters, a form, which the caller frees; NULL: no memory.
static char *make_body(const struct request *request) {
    struct hc_sv_admin_parameter parameters[HC_SV_ADMIN_PARAMETERS];
    unsigned count = hc_sv_admin_parameters(request->command, parameters), written = 0;
    char *body = NULL;
    size_t size;
    FILE *out = open_memstream(&body, &size);
    if (out == NULL)
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        const char *value = value_of(request, i, &parameters[i]);
        if (value == NULL)
            continue;
        fprintf(out, "%s%s=", written++ > 0 ? "&" : "", parameters[i].name);
        put_escaped(value, out);
    }
    return fclose(out) == 0 ? body : NULL;
}

/// Sends the request; false: failed, see errno. HTTP/1.0 ends the answer with the connection.
static bool send_request(int descriptor, const struct request *request, const char *authorization) {
    const struct hc_sv_admin_command *command = request->command;
    char *body = make_body(request), *text = NULL;
    int size = -1;
    if (body != NULL)
        size = asprintf(
            &text, "%s /%s HTTP/1.0\r\nHost: localhost\r\nContent-Length: %zu\r\n%s\r\n%s",
            command->changes ? "POST" : "GET", command->name, strlen(body), authorization, body);
    free(body);
    if (size < 0)
        return false;
    ssize_t sent = 0, count = 0;
    for (; sent < size; sent += count)
        if ((count = send(descriptor, text + sent, (size_t)(size - sent), MSG_NOSIGNAL)) <= 0)
            break;
    int error = errno;
    sodium_memzero(text, (size_t)size);
    free(text);
    errno = error;
    return sent == size;
}

/// Reads the whole answer, which the caller frees. NULL: failed, see errno.
static char *receive(int descriptor) {
    char *text = NULL, piece[65536];
    size_t size = 0;
    ssize_t count;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    while ((count = recv(descriptor, piece, sizeof(piece), 0)) > 0 && size < ANSWER_MAX) {
        fwrite(piece, 1, (size_t)count, out);
        fflush(out);
    }
    int error = count > 0 ? EMSGSIZE : errno;
    if (fclose(out) == 0 && count == 0)
        return text;
    free(text);
    errno = error;
    return NULL;
}

/// Whether the answer ends before its length: the server has ended, or the network.
static bool is_cut(const char *answer, const char *body) {
    const char *length = strcasestr(answer, "\r\nContent-Length:");
    return length != NULL && length < body &&
           strtoull(strchr(length, ':') + 1, NULL, 10) != strlen(body);
}

/// Prints the body of an answer; returns the exit status.
static int print_answer(const char *answer) {
    int code;
    const char *body = strstr(answer, "\r\n\r\n");
    if (sscanf(answer, "HTTP/%*d.%*d %d", &code) != 1 || body == NULL) {
        fprintf(stderr, "hindcastctl: this is no answer of hindcastd\n");
        return EXIT_REFUSED;
    }
    body += 4;
    if (is_cut(answer, body)) {
        fprintf(stderr, "hindcastctl: the connection ended within the answer\n");
        return EXIT_REFUSED;
    }
    bool good = code >= 200 && code < 300;
    FILE *out = good ? stdout : stderr;
    if (!good)
        fprintf(out, "hindcastctl: the server refuses (%d): ", code);
    fputs(body, out);
    if (body[0] == '\0' || body[strlen(body) - 1] != '\n')
        fputc('\n', out);
    return good && hc_standard_flush(stdout, "hindcastctl") ? 0 : EXIT_REFUSED;
}

/// Asks the server; returns the exit status.
static int ask(const struct request *request) {
    char *authorization = make_authorization(request), *answer = NULL;
    if (authorization == NULL)
        return EXIT_REFUSED;
    int descriptor = connect_to(&request->address);
    if (descriptor >= 0 && send_request(descriptor, request, authorization))
        answer = receive(descriptor);
    if (answer == NULL)
        fprintf(stderr, "hindcastctl: --admin '%s': %s\n", request->at,
                errno == EAGAIN ? "no answer comes" : strerror(errno));
    int status = answer != NULL ? print_answer(answer) : EXIT_REFUSED;
    if (descriptor >= 0)
        close(descriptor);
    sodium_memzero(authorization, strlen(authorization));
    free(authorization);
    free(answer);
    return status;
}

// ---- The console --------------------------------------------------------------------------------

/// Splits a line into words, in place; one of several words stands between double quotes. Returns
/// their number, at most WORDS_MAX.
static int split(char *line, char *words[static WORDS_MAX]) {
    int count = 0;
    for (char *at = line; count < WORDS_MAX; count++) {
        at += strspn(at, " \t\r\n");
        if (*at == '\0')
            return count;
        bool quoted = *at == '"';
        words[count] = at += quoted;
        at += strcspn(at, quoted ? "\"\r\n" : " \t\r\n");
        if (*at != '\0')
            *at++ = '\0';
    }
    return count;
}

/// In a child: becomes hindcastctl with these words.
static _Noreturn void become(const struct request *request, char **words, int count) {
    const char *argv[WORDS_MAX + 7] = {"hindcastctl", "--admin", request->at};
    int argc = 3;
    if (request->password_file != NULL) {
        argv[argc++] = "--password-file";
        argv[argc++] = request->password_file;
    }
    argv[argc++] = "--";
    memcpy(argv + argc, words, (size_t)count * sizeof(*words));
    execv("/proc/self/exe", (char **)argv); // which changes none of them
    perror("hindcastctl");
    _exit(EXIT_REFUSED);
}

/// Runs one line; returns its exit status.
static int run_line(const struct request *request, char **words, int count) {
    int status = EXIT_REFUSED;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        become(request, words, count);
    if (child < 0 || waitpid(child, &status, 0) != child)
        perror("hindcastctl");
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_REFUSED;
}

/// Runs the lines of standard input; returns the exit status of the last one that failed, or 0.
static int run_console(const struct request *request) {
    bool prompts = isatty(STDIN_FILENO) != 0;
    char *line = NULL, *words[WORDS_MAX];
    size_t room = 0;
    int result = 0;
    for (;;) {
        if (prompts) {
            fputs("hindcast> ", stdout);
            fflush(stdout);
        }
        if (getline(&line, &room, stdin) < 0)
            break;
        int count = split(line, words);
        if (count > 0 && (strcmp(words[0], "exit") == 0 || strcmp(words[0], "quit") == 0))
            break;
        int status = count > 0 ? run_line(request, words, count) : 0;
        result = status != 0 ? status : result;
    }
    free(line);
    return result;
}

/// The address without --admin.
static const char *usual_at(void) {
    const char *from_environment = getenv("HINDCAST_ADMIN");
    if (from_environment != NULL)
        return from_environment;
    return access(service_at + strlen("unix:"), F_OK) == 0 ? service_at : default_at;
}

int main(int argc, char **argv) {
    struct request request = {.at = usual_at()};
    char *text = describe();
    const struct argp argp = {.options = options,
                              .parser = parse,
                              .args_doc = "COMMAND [VALUE] [NAME=VALUE...]",
                              .doc = text};
    hc_standard_open();
    argp_program_version = "hindcastctl " HC_VERSION_AND_COMMIT;
    argp_err_exit_status = EXIT_USAGE;
    if (text == NULL || sodium_init() < 0)
        return EXIT_REFUSED;
    argp_parse(&argp, argc, argv, 0, NULL, &request);
    int status = request.console ? run_console(&request) : ask(&request);
    free(text);
    return status;
}
