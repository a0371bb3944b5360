/// A server in a program of its own: it serves the arena over UDP on 127.0.0.1 until a signal ends
/// it.
///
///     ./embed PORT TOKENS
///
/// It writes one token for each of its users to the file TOKENS, as a game's backend would give
/// them to the players: Ada may play, the guest may play for GUEST_US, and Mallory is banned.
#include <hindcast/arena.h>
#include <hindcast/server.h>

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SECOND_US = 1000000, GUEST_US = 3 * SECOND_US, TOKEN_LIFE_S = 600, USERS = 3 };

/// This game's reasons, which its client would explain.
enum { BANNED_USER = HC_DENY_GAME, VISIT_OVER = HC_CLOSE_GAME };

/// The role of a user, which its token carries as the first byte of its user data.
enum role { PLAYER, GUEST, BANNED };

/// The users, by client_id.
static struct {
    const char *name;
    enum role role;
    uint32_t cid;      ///< of its client; 0: not connected
    uint64_t until_us; ///< the end of a guest's visit
} users[USERS] = {{"Ada", PLAYER, 0, 0}, {"guest", GUEST, 0, 0}, {"Mallory", BANNED, 0, 0}};

static volatile sig_atomic_t ending;

static void on_signal(int number) {
    (void)number;
    ending = 1;
}

static uint64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_US + (uint64_t)now.tv_nsec / 1000;
}

/// Refuses banned users. Their tokens are good, so only the game can decide it.
static enum hc_deny_reason admit(void *context, const struct hc_server_user *user,
                                 const struct hc_address *from) {
    char text[HC_ADDRESS_TEXT_MAX];
    (void)context;
    if (user->user_data[0] != BANNED)
        return (enum hc_deny_reason)0;
    printf("%.32s from %s is banned\n", (const char *)user->name, hc_address_format(from, text));
    return (enum hc_deny_reason)BANNED_USER;
}

/// Writes a token for each user; false: the file cannot be written.
static bool write_tokens(struct hc_server *server, const char *path) {
    umask(077); // whoever reads a token can connect in its user's place
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    for (unsigned i = 0; i < USERS; i++) {
        struct hc_server_user user;
        struct hc_credential credential;
        char text[HC_CREDENTIAL_TEXT_SIZE + 1];
        memset(&user, 0, sizeof user);
        user.client_id = i;
        user.players = 1;
        user.user_data[0] = (uint8_t)users[i].role;
        memcpy(user.name, users[i].name, strlen(users[i].name));
        hc_server_issue(server, &user, TOKEN_LIFE_S, &credential, now_us());
        hc_token_write_credential(&credential, text);
        fprintf(file, "%s\n", text);
    }
    return fclose(file) == 0;
}

static void on_event(struct hc_server *server, const struct hc_server_event *event) {
    static const char greeting[] = "welcome";
    if (event->kind == HC_SERVER_EVENT_ROUND_ENDED) {
        printf("the round ended at tick %u\n", (unsigned)event->tick);
        return;
    }
    const char *name = users[event->client_id].name;
    users[event->client_id].cid = event->cid;
    if (event->kind == HC_SERVER_EVENT_JOINED) {
        printf("%s joined, player %u\n", name, (unsigned)event->players[0]);
        users[event->client_id].until_us = now_us() + GUEST_US;
        hc_server_send_message(server, event->cid, greeting, sizeof greeting - 1, now_us());
    }
    if (event->kind == HC_SERVER_EVENT_LEFT || event->kind == HC_SERVER_EVENT_TIMEOUT) {
        printf("%s left: %s\n", name, hc_close_text(event->close));
        users[event->client_id].cid = 0;
    }
}

static void kick_guests(struct hc_server *server) {
    for (unsigned i = 0; i < USERS; i++)
        if (users[i].role == GUEST && users[i].cid != 0 && now_us() >= users[i].until_us)
            hc_server_kick(server, users[i].cid, (enum hc_close_reason)VISIT_OVER, now_us());
}

static void receive_all(struct hc_server *server, int udp) {
    uint8_t bytes[HC_DATAGRAM_MAX + 1]; // one more, so that a datagram that is too long is refused
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    ssize_t size;
    while ((size = recvfrom(udp, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&peer,
                            &length)) >= 0) {
        const uint8_t *ip = (const uint8_t *)&peer.sin_addr;
        struct hc_address from = hc_address_ipv4(ip[0], ip[1], ip[2], ip[3], ntohs(peer.sin_port));
        hc_server_receive(server, &from, bytes, (size_t)size,
                          now_us()); // it counts what it refuses
        length = sizeof peer;
    }
}

static void send_all(struct hc_server *server, int udp) {
    uint8_t bytes[HC_DATAGRAM_MAX];
    struct hc_address to;
    size_t size;
    while ((size = hc_server_send(server, &to, bytes, now_us())) > 0) {
        struct sockaddr_in peer;
        memset(&peer, 0, sizeof peer);
        peer.sin_family = AF_INET;
        peer.sin_port = htons(to.port);
        memcpy(&peer.sin_addr, to.ip + 12, 4);
        sendto(udp, bytes, size, 0, (struct sockaddr *)&peer, sizeof peer);
    }
}

/// Waits for a datagram or the server's deadline, and does what is due.
static void turn(struct hc_server *server, int udp) {
    struct pollfd readable = {udp, POLLIN, 0};
    struct hc_server_event event;
    struct hc_server_message message;
    uint64_t deadline = hc_server_deadline(server), now = now_us();
    poll(&readable, 1, deadline > now ? (int)((deadline - now) / 1000) + 1 : 0);
    receive_all(server, udp);
    hc_server_advance(server, now_us());
    send_all(server, udp);
    while (hc_server_poll_event(server, &event))
        on_event(server, &event);
    while (hc_server_next_message(server, &message) != NULL)
        printf("user %u sent %zu bytes\n", (unsigned)message.client_id, message.size);
    kick_guests(server);
    fflush(stdout);
}

int main(int argc, char **argv) {
    struct hc_server_config config = hc_server_config_default();
    struct sockaddr_in local;
    char why[200] = "no random key";
    if (argc != 3) {
        fprintf(stderr, "usage: embed PORT TOKENS\n");
        return 2;
    }
    config.game = &hc_arena;
    config.clients = USERS;
    config.seed = (uint64_t)time(NULL);
    config.admit = admit;
    config.keys.count = 1;
    if (getentropy(config.keys.keys[0].key, HC_TOKEN_KEY_SIZE) != 0 ||
        hc_server_config_check(&config, why, sizeof why) != NULL) {
        fprintf(stderr, "embed: %s\n", why);
        return 2;
    }
    struct hc_server *server =
        hc_server_create(&config, (uint64_t)time(NULL) * SECOND_US, now_us());
    int udp = socket(AF_INET, SOCK_DGRAM, 0);
    memset(&local, 0, sizeof local);
    local.sin_family = AF_INET;
    local.sin_port = htons((uint16_t)atoi(argv[1]));
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (server == NULL || bind(udp, (struct sockaddr *)&local, sizeof local) != 0 ||
        !write_tokens(server, argv[2])) {
        perror("embed");
        return 1;
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    socklen_t length = sizeof local;
    getsockname(udp, (struct sockaddr *)&local, &length);
    printf("listening on 127.0.0.1:%u\n", (unsigned)ntohs(local.sin_port));
    while (!hc_server_closed(server)) {
        if (ending)
            hc_server_shutdown(server, now_us());
        turn(server, udp);
    }
    hc_server_destroy(server);
    close(udp);
    return 0;
}
