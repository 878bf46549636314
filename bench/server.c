/* The server that every client of the benchmark talks to: an MCP server over stdio that is never the slow half.
 *
 *   server [TOOLS [DELAY]]    TOOLS tools of about 600 bytes of schema each; DELAY milliseconds before the first word
 *
 * It answers initialize, ping, tools/list and tools/call, whose `text` comes back as it was sent. Answers to what
 * arrives in one read leave in one write. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void flush(Buffer *buffer) {
    for (size_t done = 0; done < buffer->size;) {
        ssize_t written = write(1, buffer->at + done, buffer->size - done);
        if (written <= 0) exit(0);
        done += (size_t)written;
    }
    buffer->size = 0;
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
    say(&list, "{\"tools\":[");
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
    say(out, "{\"content\":[{\"type\":\"text\",\"text\":");
    if (text.size) add(out, text.at, text.size);
    else say(out, "\"\"");
    say(out, "}]}");
}

static void answer_hello(Buffer *out, Span params) {
    Span version = get(params, "protocolVersion");
    say(out, "{\"protocolVersion\":");
    add(out, version.at, version.size);
    say(out, HELLO);
}

static void answer(Buffer *out, Span message, const Buffer *list) {
    Span id = get(message, "id"), method = get(message, "method"), params = get(message, "params");
    if (!id.size || !method.size) return;
    int known = is(method, "\"tools/call\"") || is(method, "\"tools/list\"") || is(method, "\"initialize\"") ||
                is(method, "\"ping\"");
    say(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    add(out, id.at, id.size);
    say(out, known ? ",\"result\":" : ",\"error\":");
    if (is(method, "\"tools/call\"")) answer_call(out, params);
    else if (is(method, "\"tools/list\"")) add(out, list->at, list->size);
    else if (is(method, "\"initialize\"")) answer_hello(out, params);
    else say(out, known ? "{}" : "{\"code\":-32601,\"message\":\"Method not found\"}");
    say(out, "}\n");
}

/* Answer every whole line and keep what is left of the last one. */
static void answer_lines(Buffer *in, Buffer *out, const Buffer *list) {
    char *line = in->at, *end = in->at + in->size, *newline;
    while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
        answer(out, (Span){line, (size_t)(newline - line)}, list);
        line = newline + 1;
    }
    in->size = (size_t)(end - line);
    memmove(in->at, line, in->size);
}

int main(int count, char **words) {
    int tools = count > 1 ? atoi(words[1]) : 5, delay = count > 2 ? atoi(words[2]) : 0;
    Buffer list = list_of(tools), in = {0}, out = {0};
    nanosleep(&(struct timespec){delay / 1000, delay % 1000 * 1000000L}, 0);
    for (;;) {
        reserve(&in, 1 << 16);
        ssize_t size = read(0, in.at + in.size, 1 << 16);
        if (size <= 0) return 0;
        in.size += (size_t)size;
        answer_lines(&in, &out, &list);
        flush(&out);
    }
}
