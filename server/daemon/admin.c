/// Owns the admin face: who may ask, the routes, and the answers that wait for the workers.
#define _GNU_SOURCE // strcasecmp, open_memstream

#include "server/daemon/admin.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"
#include "server/daemon/admin_address.h"
#include "server/daemon/http.h"
#include "server/daemon/metrics.h"
#include "server/daemon/overview.h"
#include "server/daemon/owner_file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    IDLE_S = 10,
    WAITING_MAX = 4 * HC_SV_HTTP_CONNECTIONS, ///< requests, also of connections that are ending
    FRESH_US = 100000,                        ///< an answer is given again for so long
    UNSENT_MAX = 1 << 24, ///< bytes of answers that all readers together may leave unread
    PASSWORD_MIN = 16,    ///< bytes: too many to be guessed
    PASSWORD_MAX = 256,
    SECRET_SIZE = 32,
    CREDENTIALS_MAX = 512, ///< bytes of `admin:` and a password
    TEXT_MAX = 256,
    ADDRESS_MAX = 160,
};

static const char user_prefix[] = "admin:";

/// The hash of `admin:` and the password.
struct password {
    uint8_t hash[SECRET_SIZE];
};

/// A text that was made, and when.
struct text {
    char *bytes; ///< NULL: none
    size_t size;
    uint64_t made_us;
};

struct hc_sv_admin {
    struct hc_sv_control *control;
    struct hc_sv_http *http;
    struct hc_sv_admin_address address;
    bool has_password;
    struct password password;
    struct evhttp_request *waiting[WAITING_MAX]; ///< requests for the status; NULL: none
    struct text metrics, status;
    struct hc_sv_match_counts *counts; ///< [matches] memory for the metrics
    bool made_socket;                  ///< the file of the Unix socket is this one's
    struct stat socket;
};

// ---- The password -------------------------------------------------------------------------------

static void hash_credentials(const char *text, size_t size, uint8_t hash[static SECRET_SIZE]) {
    crypto_generichash(hash, SECRET_SIZE, (const unsigned char *)text, size, NULL, 0);
}

static const struct hc_sv_owner_file_kind password_kind;

static bool parse_password(const struct hc_sv_owner_file *file, void *out, char *why,
                           size_t why_size) {
    struct password *password = out;
    char text[sizeof(user_prefix) + PASSWORD_MAX];
    size_t size = strcspn(file->text, "\r\n");
    if (!hc_sv_owner_file_is_private(file, &password_kind, why, why_size))
        return false;
    if (size < PASSWORD_MIN || size > PASSWORD_MAX ||
        file->text[size + strspn(file->text + size, "\r\n")] != '\0') {
        snprintf(why, why_size,
                 "--admin-password-file '%s': must be one line of %d to %d bytes, which can be "
                 "made by `openssl rand -hex 16`",
                 file->path, PASSWORD_MIN, PASSWORD_MAX);
        return false;
    }
    memcpy(text, user_prefix, sizeof(user_prefix) - 1);
    memcpy(text + sizeof(user_prefix) - 1, file->text, size);
    hash_credentials(text, sizeof(user_prefix) - 1 + size, password->hash);
    sodium_memzero(text, sizeof(text));
    return true;
}

static const struct hc_sv_owner_file_kind password_kind = {
    .option = "--admin-password-file", .size = sizeof(struct password), .parse = parse_password};

/// Whether the request has the password. It is compared by hashes, in constant time.
static bool knows_password(const struct hc_sv_admin *admin, struct evhttp_request *request) {
    static const char basic[] = "Basic ";
    const char *given =
        evhttp_find_header(evhttp_request_get_input_headers(request), "Authorization");
    char text[CREDENTIALS_MAX];
    uint8_t hash[SECRET_SIZE];
    size_t size;
    if (given == NULL || strncasecmp(given, basic, sizeof(basic) - 1) != 0)
        return false;
    given += sizeof(basic) - 1;
    if (sodium_base642bin((unsigned char *)text, sizeof(text), given, strlen(given), NULL, &size,
                          NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
        return false;
    hash_credentials(text, size, hash);
    sodium_memzero(text, sizeof(text));
    return sodium_memcmp(hash, admin->password.hash, SECRET_SIZE) == 0;
}

// ---- Who may ask --------------------------------------------------------------------------------

/// Writes the host at which the connection of the request arrived, as a request names it.
static void local_host(struct evhttp_request *request, char text[static INET6_ADDRSTRLEN + 2]) {
    struct bufferevent *connection =
        evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof(address);
    const struct sockaddr_in *ipv4 = (const void *)&address;
    const struct sockaddr_in6 *ipv6 = (const void *)&address;
    char number[INET6_ADDRSTRLEN] = "";
    text[0] = '\0';
    if (getsockname(bufferevent_getfd(connection), (struct sockaddr *)&address, &size) != 0)
        return;
    if (address.ss_family == AF_INET)
        inet_ntop(AF_INET, &ipv4->sin_addr, text, INET6_ADDRSTRLEN);
    if (address.ss_family != AF_INET6)
        return;
    if (IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr))
        inet_ntop(AF_INET, &ipv6->sin6_addr.s6_addr[12], text, INET6_ADDRSTRLEN);
    else if (inet_ntop(AF_INET6, &ipv6->sin6_addr, number, sizeof(number)) != NULL)
        snprintf(text, INET6_ADDRSTRLEN + 2, "[%s]", number);
}

/// Whether the request names this host: a web page may give its own name this address.
static bool is_for_us(struct evhttp_request *request) {
    static const char *const names[] = {"localhost", "127.0.0.1", "::1", "[::1]"};
    const char *host = evhttp_request_get_host(request);
    char local[INET6_ADDRSTRLEN + 2];
    if (host == NULL)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcasecmp(host, names[i]) == 0)
            return true;
    local_host(request, local);
    return local[0] != '\0' && strcasecmp(host, local) == 0;
}

// ---- Answers ------------------------------------------------------------------------------------

/// Answers with `size` bytes of a type.
static void reply_bytes(struct evhttp_request *request, int code, const char *type,
                        const char *bytes, size_t size) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    struct evbuffer *body = evbuffer_new();
    char length[24];
    snprintf(length, sizeof(length), "%zu", size);
    evhttp_add_header(headers, "Content-Type", type);
    evhttp_add_header(headers, "Content-Length", length);
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
    if (body != NULL && evhttp_request_get_command(request) != EVHTTP_REQ_HEAD)
        evbuffer_add(body, bytes, size);
    evhttp_send_reply(request, code, NULL, body);
    if (body != NULL)
        evbuffer_free(body);
}

/// Answers with a line.
static void reply(struct evhttp_request *request, int code, const char *line) {
    char text[TEXT_MAX];
    int size = snprintf(text, sizeof(text), "%s\n", line);
    reply_bytes(request, code, "text/plain; charset=utf-8", text, (size_t)size);
}

static bool is_fresh(const struct text *text) {
    return text->bytes != NULL && hc_since(text->made_us, hc_clock_us()) < FRESH_US;
}

/// Takes over a new text.
static void renew(struct text *text, struct text made) {
    free(text->bytes);
    *text = made;
    text->made_us = hc_clock_us();
}

static void reply_text(struct evhttp_request *request, const char *type, const struct text *text) {
    if (text->bytes == NULL)
        reply(request, HTTP_SERVUNAVAIL, "no memory");
    else
        reply_bytes(request, HTTP_OK, type, text->bytes, text->size);
}

// ---- Metrics ------------------------------------------------------------------------------------

static void make_metrics(struct hc_sv_admin *admin) {
    struct hc_sv_control *control = admin->control;
    const struct hc_sv_options *options = control->options;
    const struct hc_sv_report *sums = hc_sv_control_sums(control);
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    for (unsigned number = 1; number <= options->matches; number++)
        hc_sv_published_read(&hc_sv_worker_match(control->workers, number)->counts,
                             &admin->counts[number - 1]);
    const struct hc_sv_metrics metrics = {
        .version = control->setting->version,
        .tick_rate = options->tick_rate,
        .matches = options->matches,
        .counts = admin->counts,
        .process = &sums->process,
        .doors = &sums->doors,
        .lanes = sums->sorted ? &sums->lanes : NULL,
        .placed = control->setting->placement != NULL ? &sums->placed : NULL,
        .hanging = hc_sv_control_hanging(control),
        .ready = hc_sv_control_is_ready(control)};
    if (out == NULL)
        return;
    hc_sv_metrics_write(&metrics, out);
    if (fclose(out) == 0)
        renew(&admin->metrics, (struct text){.bytes = bytes, .size = size});
    else
        free(bytes);
}

static void on_metrics(struct hc_sv_admin *admin, struct evhttp_request *request) {
    if (!is_fresh(&admin->metrics))
        make_metrics(admin);
    reply_text(request, "text/plain; version=0.0.4; charset=utf-8", &admin->metrics);
}

// ---- Health -------------------------------------------------------------------------------------

static void on_health(struct hc_sv_admin *admin, struct evhttp_request *request) {
    if (hc_sv_control_is_healthy(admin->control))
        reply(request, HTTP_OK, "ok");
    else
        reply(request, HTTP_SERVUNAVAIL, "a tick loop hangs");
}

static void on_ready(struct hc_sv_admin *admin, struct evhttp_request *request) {
    if (hc_sv_control_is_ready(admin->control))
        reply(request, HTTP_OK, "ready");
    else if (admin->control->stopping)
        reply(request, HTTP_SERVUNAVAIL, "the server ends");
    else
        reply(request, HTTP_SERVUNAVAIL, "each match hangs, or is overloaded and refuses joins");
}

// ---- The status ---------------------------------------------------------------------------------

static const char type_json[] = "application/json";

/// The connection of a request that waits has ended.
static void on_gone(struct evhttp_connection *connection, void *context) {
    struct evhttp_request **waiting = context;
    (void)connection;
    *waiting = NULL;
}

/// Whether a request of this connection waits.
static bool waits(void *context, const struct bufferevent *connection) {
    const struct hc_sv_admin *admin = context;
    for (unsigned i = 0; i < WAITING_MAX; i++)
        if (admin->waiting[i] != NULL &&
            evhttp_connection_get_bufferevent(evhttp_request_get_connection(admin->waiting[i])) ==
                connection)
            return true;
    return false;
}

/// The workers have published what the status says.
static void on_published(void *context) {
    struct hc_sv_admin *admin = context;
    json_t *json = hc_sv_overview_json(admin->control);
    char *bytes = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(json);
    if (bytes != NULL)
        renew(&admin->status, (struct text){.bytes = bytes, .size = strlen(bytes)});
    for (unsigned i = 0; i < WAITING_MAX; i++) {
        struct evhttp_request *request = admin->waiting[i];
        if (request == NULL)
            continue;
        admin->waiting[i] = NULL;
        evhttp_connection_set_closecb(evhttp_request_get_connection(request), NULL, NULL);
        reply_text(request, type_json, &admin->status);
    }
}

static void on_status(struct hc_sv_admin *admin, struct evhttp_request *request) {
    unsigned i = 0;
    if (is_fresh(&admin->status)) {
        reply_text(request, type_json, &admin->status);
        return;
    }
    while (i < WAITING_MAX && admin->waiting[i] != NULL)
        i++;
    if (i == WAITING_MAX) {
        reply(request, HTTP_SERVUNAVAIL, "too many requests wait");
        return;
    }
    admin->waiting[i] = request;
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_gone,
                                  &admin->waiting[i]);
    hc_sv_control_ask(admin->control);
}

// ---- Routes -------------------------------------------------------------------------------------

static const struct route {
    const char *path;
    bool open; ///< needs no password, because the probes of orchestrators have none
    void (*answer)(struct hc_sv_admin *admin, struct evhttp_request *request);
} routes[] = {
    {"/metrics", false, on_metrics},
    {"/healthz", true, on_health},
    {"/readyz", true, on_ready},
    {"/status", false, on_status},
};

static const struct route *route_of(struct evhttp_request *request) {
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));
    for (size_t i = 0; path != NULL && i < sizeof(routes) / sizeof(*routes); i++)
        if (strcmp(path, routes[i].path) == 0)
            return &routes[i];
    return NULL;
}

static void on_request(struct evhttp_request *request, void *context) {
    struct hc_sv_admin *admin = context;
    const struct route *route = route_of(request);
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    if (!is_for_us(request)) {
        reply(request, 403, "Host must be localhost or the address of this server");
    } else if (admin->has_password && (route == NULL || !route->open) &&
               !knows_password(admin, request)) {
        evhttp_add_header(headers, "WWW-Authenticate", "Basic realm=\"hindcastd\"");
        reply(request, 401, "the name admin and the password are needed");
    } else if (route == NULL) {
        reply(request, HTTP_NOTFOUND, "no such path");
    } else if (evhttp_request_get_command(request) == EVHTTP_REQ_POST) {
        evhttp_add_header(headers, "Allow", "GET, HEAD");
        reply(request, HTTP_BADMETHOD, "this path is read with GET");
    } else if (hc_sv_http_unsent(admin->http) > UNSENT_MAX) {
        reply(request, HTTP_SERVUNAVAIL, "too many answers are unread");
    } else {
        route->answer(admin, request);
    }
}

// ---- Lifecycle ----------------------------------------------------------------------------------

static void on_accept_failed(void *context, const char *why) {
    const struct hc_sv_admin *admin = context;
    hc_sv_log_event(admin->control->log, HC_SV_LOG_WARN, "admin-paused",
                    json_pack("{s:s}", "why", why));
}

/// Removes the file of a Unix socket that nobody listens at any more.
static void remove_stale(const struct hc_sv_admin_address *address) {
    struct stat found;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (lstat(address->path, &found) == 0 && S_ISSOCK(found.st_mode) && descriptor >= 0 &&
        connect(descriptor, (const struct sockaddr *)&address->address, address->size) != 0 &&
        errno == ECONNREFUSED)
        unlink(address->path);
    if (descriptor >= 0)
        close(descriptor);
}

/// Listens at the address; false: failed, see errno. Only this user may use a Unix socket, from
/// its creation on.
static bool listen_at(struct hc_sv_admin *admin) {
    const struct hc_sv_admin_address *address = &admin->address;
    if (address->path == NULL)
        return hc_sv_http_listen(admin->http, (const struct sockaddr *)&address->address,
                                 address->size);
    remove_stale(address);
    mode_t before = umask(0177);
    bool good =
        hc_sv_http_listen(admin->http, (const struct sockaddr *)&address->address, address->size);
    int error = errno;
    umask(before);
    admin->made_socket = good && lstat(address->path, &admin->socket) == 0;
    errno = error;
    return good;
}

/// Logs the address, with the port that port 0 got.
static void log_address(struct hc_sv_admin *admin) {
    struct hc_sv_admin_address *address = &admin->address;
    char text[ADDRESS_MAX];
    if (address->path == NULL)
        hc_sv_http_address(admin->http, &address->address);
    hc_sv_admin_address_format(address, text, sizeof(text));
    hc_sv_log_event(admin->control->log, HC_SV_LOG_INFO, "admin-open",
                    json_pack("{s:s, s:b}", "at", text, "password", (int)admin->has_password));
}

/// Opens the face; false: `why` is a sentence.
static bool open_face(struct hc_sv_admin *admin, char *why, size_t why_size) {
    const struct hc_sv_options *options = admin->control->options;
    const struct hc_sv_http_config config = {.methods =
                                                 EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST,
                                             .idle_s = IDLE_S,
                                             .request = on_request,
                                             .answers = waits,
                                             .failed = on_accept_failed,
                                             .context = admin};
    admin->has_password = options->admin_password_file != NULL;
    if (admin->has_password && !hc_sv_owner_file_read(&password_kind, options->admin_password_file,
                                                      &admin->password, why, why_size))
        return false;
    admin->counts = calloc(options->matches, sizeof(*admin->counts));
    admin->http = hc_sv_http_open(admin->control->base, &config);
    snprintf(why, why_size, "--admin '%s': no memory", options->admin);
    if (admin->counts == NULL || admin->http == NULL ||
        !hc_sv_admin_address_parse(options->admin, &admin->address))
        return false;
    if (!listen_at(admin)) {
        snprintf(why, why_size, "--admin '%s': %s", options->admin, strerror(errno));
        return false;
    }
    admin->control->reader =
        (struct hc_sv_control_reader){.published = on_published, .context = admin};
    log_address(admin);
    return true;
}

struct hc_sv_admin *hc_sv_admin_open(struct hc_sv_control *control, char *why, size_t why_size) {
    why[0] = '\0';
    if (control->options->admin == NULL)
        return NULL;
    struct hc_sv_admin *admin = calloc(1, sizeof(*admin));
    snprintf(why, why_size, "--admin '%s': no memory", control->options->admin);
    if (admin == NULL)
        return NULL;
    admin->control = control;
    if (open_face(admin, why, why_size))
        return admin;
    hc_sv_admin_close(admin);
    return NULL;
}

void hc_sv_admin_close(struct hc_sv_admin *admin) {
    struct stat found;
    if (admin == NULL)
        return;
    hc_sv_http_close(admin->http);
    if (admin->made_socket && lstat(admin->address.path, &found) == 0 &&
        found.st_ino == admin->socket.st_ino && found.st_dev == admin->socket.st_dev)
        unlink(admin->address.path);
    free(admin->metrics.bytes);
    free(admin->status.bytes);
    free(admin->counts);
    sodium_memzero(admin, sizeof(*admin));
    free(admin);
}
