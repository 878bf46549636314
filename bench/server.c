/* The server that every client of the benchmark talks to: an MCP server that is never the slow half.
 *
 *   server [TOOLS [DELAY]]    over stdio: TOOLS tools of about 600 bytes of schema each; DELAY milliseconds before the
 *                             first word
 *   server http [TOOLS]       over HTTP on the loopback, until its standard input ends; its port is its first line.
 *                             The path says how: /mcp answers with JSON, /events with streams of events, both in
 *                             sessions; /stateless with JSON in the era that has none
 *
 * It answers initialize, ping, tools/list and tools/call, whose `text` comes back as it was sent. Answers to what
 * arrives in one read leave in one write. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef struct { const char *at; size_t size; } Span;
typedef struct { char *at; size_t size, room; } Buffer;

static void fail(const char *what) { perror(what); exit(1); }

static void reserve(Buffer *buffer, size_t more) {
    if (buffer->size + more <= buffer->room) return;
    while (buffer->size + more > buffer->room) buffer->room = buffer->room ? 2 * buffer->room : 1 << 16;
    if (!(buffer->at = realloc(buffer->at, buffer->room))) fail("realloc");
}

static void add(Buffer *buffer, const char *text, size_t size) {
    reserve(buffer, size);
    memcpy(buffer->at + buffer->size, text, size);
    buffer->size += size;
}

static void say(Buffer *buffer, const char *text) { add(buffer, text, strlen(text)); }

/* Whether all of it could be written; either way nothing is left. */
static int flush(Buffer *buffer, int to) {
    size_t done = 0, size = buffer->size;
    while (done < size) {
        ssize_t written = write(to, buffer->at + done, size - done);
        if (written <= 0) break;
        done += (size_t)written;
    }
    buffer->size = 0;
    return done == size;
}

/* What has come, behind what was there: its size, or nothing at the end. */
static ssize_t take(Buffer *buffer, int from) {
    reserve(buffer, 1 << 16);
    ssize_t size = read(from, buffer->at + buffer->size, 1 << 16);
    if (size > 0) buffer->size += (size_t)size;
    return size;
}

static void drop(Buffer *buffer, size_t size) {
    buffer->size -= size;
    memmove(buffer->at, buffer->at + size, buffer->size);
}

/* --- just enough JSON: spans of well-formed text ---------------------------------------------------------------- */

static const char *blank(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
    return p;
}

static const char *string_end(const char *p, const char *end) {
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\') p++;
    return p < end ? p + 1 : end;
}

static const char *value_end(const char *p, const char *end) {
    if (*p == '"') return string_end(p, end);
    for (int depth = 0; p < end; p++) {
        if (*p == '"') p = string_end(p, end) - 1;
        else if (*p == '{' || *p == '[') depth++;
        else if (*p == '}' || *p == ']') { if (depth == 0) return p; if (--depth == 0) return p + 1; }
        else if (*p == ',' && depth == 0) return p;
    }
    return end;
}

/* The value of a key of an object, or an empty span. */
static Span get(Span object, const char *key) {
    const char *p = object.at, *end = object.at + object.size;
    size_t length = strlen(key);
    if (object.size && *p == '{') p++;
    while ((p = blank(p, end)) < end && *p == '"') {
        const char *name = p + 1, *after = string_end(p, end);
        p = blank(after, end);
        if (p >= end || *p != ':') break;
        const char *value = blank(p + 1, end);
        if (value >= end) break;
        p = value_end(value, end);
        if ((size_t)(after - 1 - name) == length && !memcmp(name, key, length))
            return (Span){value, (size_t)(p - value)};
        p = blank(p, end);
        if (p < end && *p == ',') p++;
    }
    return (Span){0, 0};
}

static int is(Span span, const char *text) {
    return span.size == strlen(text) && !memcmp(span.at, text, span.size);
}

/* --- what it says ----------------------------------------------------------------------------------------------- */

/* What a result says of itself in the era without sessions. */
static const char *COMPLETE = "\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\",";

static const char *HELLO =
    ",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"bench\",\"version\":\"1.0\"}}";

static const char *SCHEMA =
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
    "\"text\":{\"type\":\"string\",\"description\":\"The text to send back, exactly as it was given.\"},"
    "\"owner\":{\"type\":\"string\",\"description\":\"Whose account it is. Names are compared without regard to case.\"},"
    "\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Labels to attach.\"},"
    "\"state\":{\"type\":\"string\",\"enum\":[\"open\",\"closed\",\"all\"],\"default\":\"open\"},"
    "\"page\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"Which page of the results, from one.\"},"
    "\"filter\":{\"type\":\"object\",\"properties\":{\"since\":{\"type\":\"string\"},\"until\":{\"type\":\"string\"}}}},"
    "\"required\":[\"text\"],\"additionalProperties\":false}}";

static Buffer list_of(int tools) {
    Buffer list = {0};
    say(&list, "\"tools\":[");
    for (int i = 0; i < tools; i++) {
        char name[128];
        if (i) snprintf(name, sizeof name, ",{\"name\":\"tool_%d\",\"description\":\"Does thing number %d.\",", i, i);
        else snprintf(name, sizeof name, "{\"name\":\"echo\",\"description\":\"Sends a text back.\",");
        say(&list, name);
        say(&list, SCHEMA);
    }
    say(&list, "]}");
    return list;
}

static void answer_call(Buffer *out, Span params) {
    Span text = get(get(params, "arguments"), "text");
    say(out, "\"content\":[{\"type\":\"text\",\"text\":");
    if (text.size) add(out, text.at, text.size);
    else say(out, "\"\"");
    say(out, "}]}");
}

static void answer_hello(Buffer *out, Span params) {
    Span version = get(params, "protocolVersion");
    say(out, "\"protocolVersion\":");
    add(out, version.at, version.size);
    say(out, HELLO);
}

static void answer(Buffer *out, Span message, const Buffer *list, int stateless) {
    Span id = get(message, "id"), method = get(message, "method"), params = get(message, "params");
    if (!id.size || !method.size) return;
    int call = is(method, "\"tools/call\""), lists = is(method, "\"tools/list\""), ping = is(method, "\"ping\"");
    int hello = !stateless && is(method, "\"initialize\""), found = stateless && is(method, "\"server/discover\"");
    int known = call || lists || ping || hello || found;
    say(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    add(out, id.at, id.size);
    say(out, known ? ",\"result\":{" : ",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}");
    if (known && stateless) say(out, COMPLETE);
    if (call) answer_call(out, params);
    else if (lists) add(out, list->at, list->size);
    else if (hello) answer_hello(out, params);
    else if (found) say(out, "\"supportedVersions\":[\"2026-07-28\"]"), say(out, HELLO);
    else if (ping) say(out, "}");
    say(out, "}\n");
}

/* Answer every whole line and keep what is left of the last one. */
static void answer_lines(Buffer *in, Buffer *out, const Buffer *list) {
    char *line = in->at, *end = in->at + in->size, *newline;
    while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
        answer(out, (Span){line, (size_t)(newline - line)}, list, 0);
        line = newline + 1;
    }
    drop(in, (size_t)(line - in->at));
}

/* --- just enough HTTP: well-formed requests, their bodies with a length ----------------------------------------- */

#define KIND "Content-Type: application/json\r\n"
#define SESSION "Mcp-Session-Id: 6f1c2b7e94d84c0fa35de9b07c81d24a\r\n"

static int starts(Span span, const char *text) {
    return span.size >= strlen(text) && !memcmp(span.at, text, strlen(text));
}

/* The head of a request with the empty line behind it; nothing if that has not come. */
static Span head_of(Span rest) {
    const char *p = rest.at, *end = rest.at + rest.size;
    for (; end - p >= 4 && (p = memchr(p, '\r', (size_t)(end - p) - 3)); p++)
        if (!memcmp(p, "\r\n\r\n", 4)) return (Span){rest.at, (size_t)(p - rest.at) + 4};
    return (Span){0, 0};
}

static size_t length_of(Span head) {
    const char *name = "\r\ncontent-length:", *p = head.at, *end = head.at + head.size;
    for (size_t size = strlen(name); (p = memchr(p, '\r', (size_t)(end - p))) && p + size < end; p++)
        if (!strncasecmp(p, name, size)) return strtoul(p + size, 0, 10);
    return 0;
}

static void respond(Buffer *out, const char *status, const char *fields, Span body) {
    char head[512];
    snprintf(head, sizeof head, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n", status, fields, body.size);
    say(out, head);
    if (body.size) add(out, body.at, body.size);
}

static void respond_event(Buffer *out, Span body) {
    const char *event = "event: message\ndata: ";
    char size[32];
    say(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n" SESSION
             "Transfer-Encoding: chunked\r\n\r\n");
    snprintf(size, sizeof size, "%zx\r\n", strlen(event) + body.size + 1);
    say(out, size);
    say(out, event);
    add(out, body.at, body.size);
    say(out, "\n\r\n0\r\n\r\n");
}

static void answer_request(Buffer *out, Span head, Span body, const Buffer *list) {
    static Buffer said;
    Span nothing = {0, 0};
    int stateless = starts(head, "POST /stateless ");
    said.size = 0;
    if (starts(head, "POST ")) answer(&said, body, list, stateless);
    Span words = {said.at, said.size};
    if (starts(head, "DELETE ")) respond(out, "200 OK", "", nothing);
    else if (!starts(head, "POST ")) respond(out, "405 Method Not Allowed", "Allow: POST, DELETE\r\n", nothing);
    else if (!words.size) respond(out, "202 Accepted", "", nothing);
    else if (starts(head, "POST /events ")) respond_event(out, words);
    else respond(out, "200 OK", stateless ? KIND : KIND SESSION, words);
}

/* Answer every whole request and keep what has come of the next. */
static void answer_requests(Buffer *in, Buffer *out, const Buffer *list) {
    size_t done = 0;
    for (;;) {
        Span rest = {in->at + done, in->size - done}, head = head_of(rest);
        if (!head.size) break;
        Span body = {head.at + head.size, length_of(head)};
        if (head.size + body.size > rest.size) break;
        answer_request(out, head, body, list);
        done += head.size + body.size;
    }
    drop(in, done);
}

/* --- the two ways to talk to it --------------------------------------------------------------------------------- */

static int serve_stdio(const Buffer *list) {
    Buffer in = {0}, out = {0};
    while (take(&in, 0) > 0) {
        answer_lines(&in, &out, list);
        if (!flush(&out, 1)) break;
    }
    return 0;
}

enum { CONNECTIONS = 4096 };

static int open_door(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int door = socket(AF_INET, SOCK_STREAM, 0);
    if (door < 0 || bind(door, (struct sockaddr *)&address, size) || listen(door, 512)) fail("listen");
    if (getsockname(door, (struct sockaddr *)&address, &size)) fail("getsockname");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return door;
}

static void watch(int poll, int what) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = what};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, what, &event)) fail("epoll_ctl");
}

static void let_in(int poll, int door, Buffer *in) {
    int made = accept(door, 0, 0), yes = 1;
    if (made < 0 || made >= CONNECTIONS) fail("accept");
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    in[made].size = 0;
    watch(poll, made);
}

static int serve_http(const Buffer *list) {
    static Buffer in[CONNECTIONS];
    struct epoll_event events[256];
    Buffer out = {0};
    int poll = epoll_create1(0), door = open_door();
    signal(SIGPIPE, SIG_IGN);
    watch(poll, 0);
    watch(poll, door);
    for (;;) {
        int ready = epoll_wait(poll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            int from = events[i].data.fd;
            if (from == 0) return 0;
            if (from == door) { let_in(poll, door, in); continue; }
            ssize_t size = take(&in[from], from);
            if (size > 0) answer_requests(&in[from], &out, list);
            if (size <= 0 || !flush(&out, from)) close(from);
        }
    }
}

int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "http")) {
        Buffer list = list_of(count > 2 ? atoi(words[2]) : 5);
        return serve_http(&list);
    }
    int tools = count > 1 ? atoi(words[1]) : 5, delay = count > 2 ? atoi(words[2]) : 0;
    Buffer list = list_of(tools);
    nanosleep(&(struct timespec){delay / 1000, delay % 1000 * 1000000L}, 0);
    return serve_stdio(&list);
}
