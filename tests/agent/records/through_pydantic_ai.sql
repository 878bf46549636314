PRAGMA user_version = 6;
BEGIN TRANSACTION;
CREATE TABLE entries (
    session TEXT NOT NULL,
    number INTEGER NOT NULL,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (session, number)
);
INSERT INTO "entries" VALUES('7e7424d8756b',1,1.79506644156546187399e+09,'message','{"type":"message","message":{"type":"person","parts":[{"type":"text","text":"Add one and two, anthropic"}],"synthetic":false}}');
INSERT INTO "entries" VALUES('7e7424d8756b',5,1.79506644206758308405e+09,'message','{"type":"message","message":{"type":"model","blocks":[{"type":"thinking","text":"Let me see.","opaque":{"signature":"c2lnbmVk"}},{"type":"text","text":"I add.","opaque":null},{"type":"call","id":"call_1_2","name":"mcp__demo__add","arguments":"{\"a\":1,\"b\":2}","opaque":null}],"model":"anthropic:claude-sonnet-5-5"}}');
INSERT INTO "entries" VALUES('7e7424d8756b',8,1.79506644209577798845e+09,'message','{"type":"message","message":{"type":"results","results":[{"id":"call_1_2","name":"mcp__demo__add","parts":[{"type":"text","text":"{\"sum\": 3}"}],"is_error":false}]}}');
INSERT INTO "entries" VALUES('7e7424d8756b',11,1.79506644213893771164e+09,'message','{"type":"message","message":{"type":"model","blocks":[{"type":"thinking","text":"So.","opaque":{"signature":"c2lnbmVk"}},{"type":"text","text":"It is 3.","opaque":null}],"model":"anthropic:claude-sonnet-5-5"}}');
INSERT INTO "entries" VALUES('18f93991950e',1,1.79506644791804194447e+09,'message','{"type":"message","message":{"type":"person","parts":[{"type":"text","text":"Add one and two, openai"}],"synthetic":false}}');
INSERT INTO "entries" VALUES('18f93991950e',5,1.7950664485318515301e+09,'message','{"type":"message","message":{"type":"model","blocks":[{"type":"thinking","text":"Let me see.","opaque":{"id":"rs_1_0","signature":"c2lnbmVk"}},{"type":"text","text":"I add.","opaque":{"id":"msg_1_1"}},{"type":"call","id":"call_1_2","name":"mcp__demo__add","arguments":"{\"a\":1,\"b\":2}","opaque":{"id":"fc_1_2"}}],"model":"openai:gpt-6.1-sol"}}');
INSERT INTO "entries" VALUES('18f93991950e',8,1.79506644866627311702e+09,'message','{"type":"message","message":{"type":"results","results":[{"id":"call_1_2","name":"mcp__demo__add","parts":[{"type":"text","text":"{\"sum\": 3}"}],"is_error":false}]}}');
INSERT INTO "entries" VALUES('18f93991950e',11,1.79506644876861882207e+09,'message','{"type":"message","message":{"type":"model","blocks":[{"type":"thinking","text":"So.","opaque":{"id":"rs_2_0","signature":"c2lnbmVk"}},{"type":"text","text":"It is 3.","opaque":{"id":"msg_2_1"}}],"model":"openai:gpt-6.1-sol"}}');
INSERT INTO "entries" VALUES('9d728b1ee6cc',1,1.79506645369021177295e+09,'message','{"type":"message","message":{"type":"person","parts":[{"type":"text","text":"Add one and two, google"}],"synthetic":false}}');
INSERT INTO "entries" VALUES('9d728b1ee6cc',5,1.79506645406399512293e+09,'message','{"type":"message","message":{"type":"model","blocks":[{"type":"thinking","text":"Let me see.","opaque":null},{"type":"text","text":"I add.","opaque":{"details":{"thought_signature":"c2lnbmVk"}}},{"type":"call","id":"call_1_2","name":"mcp__demo__add","arguments":"{\"a\":1,\"b\":2}","opaque":null}],"model":"google:gemini-3.8-flash"}}');
INSERT INTO "entries" VALUES('9d728b1ee6cc',8,1.79506645425548243526e+09,'message','{"type":"message","message":{"type":"results","results":[{"id":"call_1_2","name":"mcp__demo__add","parts":[{"type":"text","text":"{\"sum\": 3}"}],"is_error":false}]}}');
INSERT INTO "entries" VALUES('9d728b1ee6cc',11,1.79506645436465644841e+09,'message','{"type":"message","message":{"type":"model","blocks":[{"type":"thinking","text":"So.","opaque":null},{"type":"text","text":"It is 3.","opaque":{"details":{"thought_signature":"c2lnbmVk"}}}],"model":"google:gemini-3.8-flash"}}');
CREATE TABLE kept_files (
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    path BLOB NOT NULL,
    at REAL NOT NULL,
    content BLOB,
    mode INTEGER,
    folder BLOB NOT NULL,
    previous TEXT NOT NULL,
    expected TEXT NOT NULL,
    is_mixed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, turn, path)
);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY NOT NULL,
    folder TEXT NOT NULL,
    cwd TEXT NOT NULL,
    agent TEXT,
    parent TEXT,
    call TEXT,
    model TEXT NOT NULL,
    backend TEXT NOT NULL DEFAULT 'api',
    backend_session TEXT,
    title TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,
    used REAL NOT NULL,
    turns INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL DEFAULT 0,
    loaded TEXT NOT NULL DEFAULT '[]',
    compacted INTEGER NOT NULL DEFAULT 0,
    owner_pid INTEGER,
    owner_start INTEGER,
    mode TEXT,
    expired REAL,
    continues TEXT
) WITHOUT ROWID;
INSERT INTO "sessions" VALUES('18f93991950e','FOLDER','FOLDER',NULL,NULL,NULL,'openai:gpt-6.1-sol','api',NULL,'Add one and two, openai',1.79506644791821432113e+09,1.79506644876867985723e+09,1,9515,14,0,0,0.01917,'[]',0,NULL,NULL,'bypass',NULL,NULL);
INSERT INTO "sessions" VALUES('7e7424d8756b','FOLDER','FOLDER',NULL,NULL,NULL,'anthropic:claude-sonnet-5-5','api',NULL,'Add one and two, anthropic',1.79506644156571054452e+09,1.79506644213898539541e+09,1,9063,14,0,0,1.82659999999999975162e-02,'[]',0,NULL,NULL,'bypass',NULL,NULL);
INSERT INTO "sessions" VALUES('9d728b1ee6cc','FOLDER','FOLDER',NULL,NULL,NULL,'google:gemini-3.8-flash','api',NULL,'Add one and two, google',1.79506645369041204452e+09,1.79506645436470532416e+09,1,8652,14,0,0,6.54150000000000043931e-03,'[]',0,NULL,NULL,'bypass',NULL,NULL);
CREATE INDEX sessions_by_folder ON sessions (folder, used) WHERE parent IS NULL;
CREATE INDEX sessions_by_use ON sessions (used) WHERE parent IS NULL;
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
COMMIT;
