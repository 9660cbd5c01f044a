BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
CREATE TABLE audit (
	seq INTEGER NOT NULL, 
	at_ms INTEGER NOT NULL, 
	actor TEXT NOT NULL, 
	action TEXT NOT NULL, 
	target TEXT NOT NULL, 
	workspace TEXT, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_audit PRIMARY KEY (seq)
);
INSERT INTO "audit" VALUES(1,1795062819497,'(server)','first start','admin',NULL,'{}');
INSERT INTO "audit" VALUES(2,1795062819499,'(server)','node.joined','node:node-0',NULL,'{"pool":"default","model":"A100","gpus":8}');
INSERT INTO "audit" VALUES(3,1795062819502,'(server)','node.joined','node:node-1',NULL,'{"pool":"default","model":"A100","gpus":8}');
INSERT INTO "audit" VALUES(4,1795062819782,'admin','quota.created','quota:team',NULL,'{"parent":null,"min":[16000,null,null]}');
INSERT INTO "audit" VALUES(5,1795062819788,'admin','quota.created','quota:a',NULL,'{"parent":"team","min":[8000,null,null]}');
INSERT INTO "audit" VALUES(6,1795062819790,'admin','quota.created','quota:b',NULL,'{"parent":"team","min":[8000,null,null]}');
INSERT INTO "audit" VALUES(7,1795062819793,'admin','quota.updated','quota:a',NULL,'{"changed":["self_level"]}');
INSERT INTO "audit" VALUES(8,1795062819840,'admin','workspace.created','workspace:vision','vision','{"owners":["admin"]}');
INSERT INTO "audit" VALUES(9,1795062819852,'admin','workspace.bound','workspace:vision','vision','{"quota":"team"}');
INSERT INTO "audit" VALUES(10,1795062819857,'admin','workspace.bound','workspace:vision','vision','{"quota":"a"}');
INSERT INTO "audit" VALUES(11,1795062819860,'admin','workspace.bound','workspace:vision','vision','{"quota":"b"}');
INSERT INTO "audit" VALUES(12,1795062819864,'admin','job.submit','job:dlc-0tkb45cr4p','vision','{"name":"stays","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(13,1795062819873,'admin','job.submit','job:dlc-sx6p5anr0q','vision','{"name":"ends","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(14,1795062819881,'admin','job.submit','job:dlc-41bdxqd89b','vision','{"name":"taken","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(15,1795062819886,'admin','job.submit','job:dlc-q7b3c78prk','vision','{"name":"idle","priority":1,"module":"DLC"}');
CREATE TABLE bindings (
	workspace TEXT NOT NULL, 
	quota TEXT NOT NULL, 
	CONSTRAINT pk_bindings PRIMARY KEY (workspace, quota), 
	CONSTRAINT fk_bindings_quota FOREIGN KEY(quota) REFERENCES quotas (id), 
	CONSTRAINT fk_bindings_workspace FOREIGN KEY(workspace) REFERENCES workspaces (id)
);
INSERT INTO "bindings" VALUES('vision','a');
INSERT INTO "bindings" VALUES('vision','b');
INSERT INTO "bindings" VALUES('vision','team');
CREATE TABLE centres (
	workspace TEXT NOT NULL, 
	quota TEXT NOT NULL, 
	body TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	created_ms INTEGER NOT NULL, 
	updated_ms INTEGER NOT NULL, 
	CONSTRAINT pk_centres PRIMARY KEY (workspace, quota), 
	CONSTRAINT fk_centres_quota FOREIGN KEY(quota) REFERENCES quotas (id), 
	CONSTRAINT fk_centres_workspace FOREIGN KEY(workspace) REFERENCES workspaces (id)
);
CREATE TABLE decisions (
	seq INTEGER NOT NULL, 
	at_ms INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	job TEXT NOT NULL, 
	workspace TEXT NOT NULL, 
	quota TEXT NOT NULL, 
	reason_code TEXT NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_decisions PRIMARY KEY (seq)
);
INSERT INTO "decisions" VALUES(1,1795062819864,'Start','dlc-0tkb45cr4p','vision','a','FitsFree','{"type":"Start","job":"dlc-0tkb45cr4p","run":1,"claim":"regular","replicas":[{"replica":0,"node":"node-0","devices":[0,1]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(2,1795062819873,'Start','dlc-sx6p5anr0q','vision','a','FitsFree','{"type":"Start","job":"dlc-sx6p5anr0q","run":1,"claim":"regular","replicas":[{"replica":0,"node":"node-0","devices":[2]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(3,1795062819881,'Start','dlc-41bdxqd89b','vision','a','FitsFree','{"type":"Start","job":"dlc-41bdxqd89b","run":1,"claim":"regular","replicas":[{"replica":0,"node":"node-0","devices":[3,4]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(4,1795062819886,'Start','dlc-q7b3c78prk','vision','b','FitsIdle','{"type":"Start","job":"dlc-q7b3c78prk","run":1,"claim":"idle","replicas":[{"replica":0,"node":"node-0","devices":[5,6]}],"step":"FREE","reason":{"code":"FitsIdle","facts":[["free","2 GPU"]]}}');
CREATE TABLE deliveries (
	id TEXT NOT NULL, 
	webhook TEXT NOT NULL, 
	event_seq INTEGER NOT NULL, 
	due_ms INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	last_error TEXT NOT NULL, 
	CONSTRAINT pk_deliveries PRIMARY KEY (id), 
	CONSTRAINT fk_deliveries_event_seq FOREIGN KEY(event_seq) REFERENCES events (seq), 
	CONSTRAINT fk_deliveries_webhook FOREIGN KEY(webhook) REFERENCES webhooks (id) ON DELETE CASCADE
);
CREATE TABLE events (
	seq INTEGER NOT NULL, 
	at_ms INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	workspace TEXT, 
	quota TEXT, 
	job TEXT, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_events PRIMARY KEY (seq)
);
INSERT INTO "events" VALUES(1,1795062819499,'node.joined',NULL,NULL,NULL,'{"node":"node-0","pool":"default","model":"A100","gpus":8}');
INSERT INTO "events" VALUES(2,1795062819502,'node.joined',NULL,NULL,NULL,'{"node":"node-1","pool":"default","model":"A100","gpus":8}');
INSERT INTO "events" VALUES(3,1795062819782,'quota.created',NULL,'team',NULL,'{"quota":"team","parent":null,"min":[16000,null,null]}');
INSERT INTO "events" VALUES(4,1795062819788,'quota.created',NULL,'a',NULL,'{"quota":"a","parent":"team","min":[8000,null,null]}');
INSERT INTO "events" VALUES(5,1795062819790,'quota.created',NULL,'b',NULL,'{"quota":"b","parent":"team","min":[8000,null,null]}');
INSERT INTO "events" VALUES(6,1795062819793,'quota.updated',NULL,'a',NULL,'{"quota":"a","changed":["self_level"]}');
INSERT INTO "events" VALUES(7,1795062819840,'workspace.created','vision',NULL,NULL,'{"owners":["admin"]}');
INSERT INTO "events" VALUES(8,1795062819852,'workspace.bound','vision',NULL,NULL,'{"quota":"team"}');
INSERT INTO "events" VALUES(9,1795062819857,'workspace.bound','vision',NULL,NULL,'{"quota":"a"}');
INSERT INTO "events" VALUES(10,1795062819860,'workspace.bound','vision',NULL,NULL,'{"quota":"b"}');
INSERT INTO "events" VALUES(11,1795062819864,'job.submitted','vision','a','dlc-0tkb45cr4p','{"name":"stays","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(12,1795062819864,'job.started','vision','a','dlc-0tkb45cr4p','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(13,1795062819873,'job.submitted','vision','a','dlc-sx6p5anr0q','{"name":"ends","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(14,1795062819873,'job.started','vision','a','dlc-sx6p5anr0q','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(15,1795062819881,'job.submitted','vision','a','dlc-41bdxqd89b','{"name":"taken","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(16,1795062819881,'job.started','vision','a','dlc-41bdxqd89b','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(17,1795062819886,'job.submitted','vision','b','dlc-q7b3c78prk','{"name":"idle","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(18,1795062819886,'job.started','vision','b','dlc-q7b3c78prk','{"reason":"FitsIdle","run":1,"claim":"idle","step":"FREE","surplus":false}');
CREATE TABLE idempotency (
	actor TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	status INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	at_ms INTEGER NOT NULL, 
	CONSTRAINT pk_idempotency PRIMARY KEY (actor, "key")
);
INSERT INTO "idempotency" VALUES('admin','xYpU_4u_b5TRTZa8u2WZDTbw','3ea416865ab79c6d318a028311c4562834d2bdcc9c46fb4b071e0782c53d6997',200,'{"id":"team","version":1,"items":[]}',1795062819782);
INSERT INTO "idempotency" VALUES('admin','hioUkm9T8O5WyaGqy3a7Zp5P','59108b64b0f7252d185afd408627f163c64da8dc8fc61b4e0fe90bce77dd1c3f',200,'{"id":"a","version":1,"items":[]}',1795062819788);
INSERT INTO "idempotency" VALUES('admin','uuUQHbknf95u292eE-_fN7VP','c6b735f875f641b8a1dfb660d7657b81db112ef4a14e662c1493033f03cd2a80',200,'{"id":"b","version":1,"items":[]}',1795062819790);
INSERT INTO "idempotency" VALUES('admin','rkDXiMIsAMLV3wGufmvNJgHO','ace3b07c309c51519f27395db9191965db0c5bc6e7428ae9a6111b6b3641444b',200,'{"id":"vision","version":1,"items":[]}',1795062819840);
INSERT INTO "idempotency" VALUES('admin','7R-m8uynomCRawNjv2gsWwDd','82a5726fc7aa35b8cbc7fd1e1b16d554e1680667aba9932ebd7df4b68fd8f366',200,'{"id":"dlc-0tkb45cr4p","version":null,"items":[]}',1795062819864);
INSERT INTO "idempotency" VALUES('admin','BoQ9DVNhJnvsbreYim1uSs9o','ddfdd62a4c51e1df04d3c3bff4b26cfca1a7febc0f539b9637dfd7264fe81e0d',200,'{"id":"dlc-sx6p5anr0q","version":null,"items":[]}',1795062819873);
INSERT INTO "idempotency" VALUES('admin','Tidxdj8oQrqUM2x5unWw5V__','ea0f819cea22ef8cbe2a48583f563df832f215939a786def6132452455ff5872',200,'{"id":"dlc-41bdxqd89b","version":null,"items":[]}',1795062819881);
INSERT INTO "idempotency" VALUES('admin','FOPs2B5mUdGUj0VbQrAoi554','0584472b056ca9103f9f7a48b18052b562cdf91fdf177fddb40c68e28a9c0fbc',200,'{"id":"dlc-q7b3c78prk","version":null,"items":[]}',1795062819886);
CREATE TABLE jobs (
	id TEXT NOT NULL, 
	workspace TEXT NOT NULL, 
	quota TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	name TEXT NOT NULL, 
	module TEXT NOT NULL, 
	priority INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	submitted_ms INTEGER NOT NULL, 
	first_started_ms INTEGER, 
	started_ms INTEGER, 
	ended_ms INTEGER, 
	gpu_milli INTEGER NOT NULL, 
	run INTEGER NOT NULL, 
	reason_code TEXT NOT NULL, 
	is_open INTEGER NOT NULL, 
	record TEXT NOT NULL, 
	card TEXT NOT NULL, 
	updated_ms INTEGER NOT NULL, 
	CONSTRAINT pk_jobs PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES('dlc-0tkb45cr4p','vision','a','admin','stays','DLC',1,'Running',1795062819864,1795062819864,1795062819870,NULL,2000,1,'FitsFree',1,'{"spec":{"id":"dlc-0tkb45cr4p","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":2000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1795062819864,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:admin","vision/role:owner"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1795062819864,"run":1,"started_ms":1795062819870,"core":{"started_ms":1795062819870,"places":[{"replica":0,"node":"node-0","devices":[0,1]}]},"reason":"FitsFree","story":["1795062819864 submitted","1795062819864 Running: FitsFree"]}','{"program":{},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1795062819870);
INSERT INTO "jobs" VALUES('dlc-sx6p5anr0q','vision','a','admin','ends','DLC',1,'Running',1795062819873,1795062819873,1795062819878,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-sx6p5anr0q","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1795062819873,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:admin","vision/role:owner"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1795062819873,"run":1,"started_ms":1795062819878,"core":{"started_ms":1795062819878,"places":[{"replica":0,"node":"node-0","devices":[2]}]},"reason":"FitsFree","story":["1795062819873 submitted","1795062819873 Running: FitsFree"]}','{"program":{},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1795062819878);
INSERT INTO "jobs" VALUES('dlc-41bdxqd89b','vision','a','admin','taken','DLC',1,'Running',1795062819881,1795062819881,1795062819884,NULL,2000,1,'FitsFree',1,'{"spec":{"id":"dlc-41bdxqd89b","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":2000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1795062819881,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:admin","vision/role:owner"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1795062819881,"run":1,"started_ms":1795062819884,"core":{"started_ms":1795062819884,"places":[{"replica":0,"node":"node-0","devices":[3,4]}]},"reason":"FitsFree","story":["1795062819881 submitted","1795062819881 Running: FitsFree"]}','{"program":{},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1795062819884);
INSERT INTO "jobs" VALUES('dlc-q7b3c78prk','vision','b','admin','idle','DLC',1,'Running',1795062819886,1795062819886,1795062819888,NULL,2000,1,'FitsIdle',1,'{"spec":{"id":"dlc-q7b3c78prk","quota":"b","groups":[{"replicas":1,"shape":{"gpu_milli":2000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1795062819886,"module":"DLC","priority":1,"workspace":"vision","idle":"only","grace_ms":30000,"subjects":["vision/user:admin","vision/role:owner"]},"phase":"Running","claim":"idle","priority":1,"core_replicas":1,"queued_ms":1795062819886,"run":1,"started_ms":1795062819888,"core":{"started_ms":1795062819888,"places":[{"replica":0,"node":"node-0","devices":[5,6]}]},"reason":"FitsIdle","story":["1795062819886 submitted","1795062819886 Running: FitsIdle"]}','{"program":{},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1795062819888);
CREATE TABLE lease (
	id INTEGER NOT NULL, 
	holder TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	until_ms INTEGER NOT NULL, 
	batch INTEGER NOT NULL, 
	CONSTRAINT pk_lease PRIMARY KEY (id)
);
INSERT INTO "lease" VALUES(1,'',1,0,20);
CREATE TABLE members (
	workspace TEXT NOT NULL, 
	user_name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	CONSTRAINT pk_members PRIMARY KEY (workspace, user_name, role), 
	CONSTRAINT fk_members_user_name FOREIGN KEY(user_name) REFERENCES users (name), 
	CONSTRAINT fk_members_workspace FOREIGN KEY(workspace) REFERENCES workspaces (id)
);
INSERT INTO "members" VALUES('vision','admin','owner');
CREATE TABLE meta (
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_meta PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('engine','{"id":"timer","where":"timers"}');
CREATE TABLE nodes (
	name TEXT NOT NULL, 
	pool TEXT NOT NULL, 
	state TEXT NOT NULL, 
	record TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	created_ms INTEGER NOT NULL, 
	updated_ms INTEGER NOT NULL, 
	CONSTRAINT pk_nodes PRIMARY KEY (name)
);
INSERT INTO "nodes" VALUES('node-0','default','Ready','{"index":0,"spec":{"name":"node-0","pool":"default","model":"A100","gpus":8,"cpu_milli":128000,"memory_mib":1048576,"labels":[["virtual","true"]]},"state":"Ready"}',1,1795062819499,1795062819499);
INSERT INTO "nodes" VALUES('node-1','default','Ready','{"index":1,"spec":{"name":"node-1","pool":"default","model":"A100","gpus":8,"cpu_milli":128000,"memory_mib":1048576,"labels":[["virtual","true"]]},"state":"Ready"}',1,1795062819502,1795062819502);
CREATE TABLE placements (
	job TEXT NOT NULL, 
	run INTEGER NOT NULL, 
	replica INTEGER NOT NULL, 
	from_ms INTEGER NOT NULL, 
	node TEXT NOT NULL, 
	devices TEXT NOT NULL, 
	gpu_milli INTEGER NOT NULL, 
	until_ms INTEGER, 
	CONSTRAINT pk_placements PRIMARY KEY (job, run, replica, from_ms), 
	CONSTRAINT fk_placements_job FOREIGN KEY(job, run) REFERENCES runs (job, run)
)
 WITHOUT ROWID

;
INSERT INTO "placements" VALUES('dlc-0tkb45cr4p',1,0,1795062819864,'node-0','[0,1]',2000,NULL);
INSERT INTO "placements" VALUES('dlc-41bdxqd89b',1,0,1795062819881,'node-0','[3,4]',2000,NULL);
INSERT INTO "placements" VALUES('dlc-q7b3c78prk',1,0,1795062819886,'node-0','[5,6]',2000,NULL);
INSERT INTO "placements" VALUES('dlc-sx6p5anr0q',1,0,1795062819873,'node-0','[2]',1000,NULL);
CREATE TABLE pools (
	name TEXT NOT NULL, 
	record TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	created_ms INTEGER NOT NULL, 
	updated_ms INTEGER NOT NULL, 
	CONSTRAINT pk_pools PRIMARY KEY (name)
);
INSERT INTO "pools" VALUES('default','{"name":"default","mixed":false,"asked":[{"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"replicas":1},{"shape":{"gpu_milli":2000,"cpu_milli":0,"memory_mib":0},"replicas":3}],"pictured":[{"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"replicas":1},{"shape":{"gpu_milli":2000,"cpu_milli":0,"memory_mib":0},"replicas":3}]}',1,1795062819499,1795062819886);
CREATE TABLE preemption_victims (
	preemption INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	job TEXT NOT NULL, 
	workspace TEXT NOT NULL, 
	quota TEXT NOT NULL, 
	priority INTEGER NOT NULL, 
	gpu_milli INTEGER NOT NULL, 
	lost_work INTEGER NOT NULL, 
	cost INTEGER NOT NULL, 
	CONSTRAINT pk_preemption_victims PRIMARY KEY (preemption, position), 
	CONSTRAINT fk_preemption_victims_preemption FOREIGN KEY(preemption) REFERENCES preemptions (seq)
)
 WITHOUT ROWID

;
CREATE TABLE preemptions (
	seq INTEGER NOT NULL, 
	at_ms INTEGER NOT NULL, 
	preemptor TEXT NOT NULL, 
	workspace TEXT NOT NULL, 
	quota TEXT NOT NULL, 
	step TEXT NOT NULL, 
	cost INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_preemptions PRIMARY KEY (seq)
);
CREATE TABLE quota_admins (
	user_name TEXT NOT NULL, 
	quota TEXT NOT NULL, 
	CONSTRAINT pk_quota_admins PRIMARY KEY (user_name, quota), 
	CONSTRAINT fk_quota_admins_quota FOREIGN KEY(quota) REFERENCES quotas (id), 
	CONSTRAINT fk_quota_admins_user_name FOREIGN KEY(user_name) REFERENCES users (name)
);
CREATE TABLE quotas (
	id TEXT NOT NULL, 
	parent TEXT, 
	record TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	created_ms INTEGER NOT NULL, 
	updated_ms INTEGER NOT NULL, 
	CONSTRAINT pk_quotas PRIMARY KEY (id)
);
INSERT INTO "quotas" VALUES('team',NULL,'{"order":1,"spec":{"id":"team","min":{},"draws":[["default",{"gpu_milli":16000}]],"reserved":{},"strategy":"intelligent","lending":true},"min":{"gpu_milli":16000},"actual":{"gpu_milli":16000},"shadow":{}}',1,1795062819782,1795062819782);
INSERT INTO "quotas" VALUES('a','team','{"order":2,"spec":{"id":"a","parent":"team","min":{"gpu_milli":8000},"reserved":{},"strategy":"intelligent","self_level":{"high":{"low":6,"high":9},"low":{"low":1,"high":5},"modules":["DLC","DSW","EAS"],"scope":"own"},"lending":true},"min":{"gpu_milli":8000},"actual":{"gpu_milli":8000},"shadow":{}}',2,1795062819788,1795062819793);
INSERT INTO "quotas" VALUES('b','team','{"order":3,"spec":{"id":"b","parent":"team","min":{"gpu_milli":8000},"reserved":{},"strategy":"intelligent","lending":true},"min":{"gpu_milli":8000},"actual":{"gpu_milli":8000},"shadow":{}}',1,1795062819790,1795062819790);
CREATE TABLE runs (
	job TEXT NOT NULL, 
	run INTEGER NOT NULL, 
	claim TEXT NOT NULL, 
	started_ms INTEGER NOT NULL, 
	confirmed_ms INTEGER, 
	ended_ms INTEGER, 
	outcome TEXT, 
	detail TEXT NOT NULL, 
	CONSTRAINT pk_runs PRIMARY KEY (job, run), 
	CONSTRAINT fk_runs_job FOREIGN KEY(job) REFERENCES jobs (id)
)
 WITHOUT ROWID

;
INSERT INTO "runs" VALUES('dlc-0tkb45cr4p',1,'regular',1795062819864,1795062819870,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-41bdxqd89b',1,'regular',1795062819881,1795062819884,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-q7b3c78prk',1,'idle',1795062819886,1795062819888,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-sx6p5anr0q',1,'regular',1795062819873,1795062819878,NULL,NULL,'');
CREATE TABLE sessions (
	id_hash TEXT NOT NULL, 
	user_name TEXT NOT NULL, 
	csrf_hash TEXT NOT NULL, 
	created_ms INTEGER NOT NULL, 
	expires_ms INTEGER NOT NULL, 
	CONSTRAINT pk_sessions PRIMARY KEY (id_hash), 
	CONSTRAINT fk_sessions_user_name FOREIGN KEY(user_name) REFERENCES users (name)
);
CREATE TABLE tokens (
	id TEXT NOT NULL, 
	user_name TEXT NOT NULL, 
	name TEXT NOT NULL, 
	secret_hash TEXT NOT NULL, 
	created_ms INTEGER NOT NULL, 
	expires_ms INTEGER, 
	revoked_ms INTEGER, 
	read_only BOOLEAN NOT NULL, 
	CONSTRAINT pk_tokens PRIMARY KEY (id), 
	CONSTRAINT fk_tokens_user_name FOREIGN KEY(user_name) REFERENCES users (name)
);
INSERT INTO "tokens" VALUES('TgdVgS54yC','admin','first start','26cc7d07e6443b64bd375c90441ddb13e31e385c6c181ec6002f5cb690e5e456',1795062819496,NULL,NULL,0);
CREATE TABLE users (
	name TEXT NOT NULL, 
	display TEXT NOT NULL, 
	email TEXT NOT NULL, 
	platform_admin BOOLEAN NOT NULL, 
	disabled BOOLEAN NOT NULL, 
	password TEXT, 
	identity TEXT, 
	version INTEGER NOT NULL, 
	created_ms INTEGER NOT NULL, 
	updated_ms INTEGER NOT NULL, 
	CONSTRAINT pk_users PRIMARY KEY (name)
);
INSERT INTO "users" VALUES('admin','made at the first start','',1,0,NULL,NULL,1,1795062819497,1795062819497);
CREATE TABLE webhooks (
	id TEXT NOT NULL, 
	workspace TEXT, 
	url TEXT NOT NULL, 
	secret TEXT NOT NULL, 
	kinds TEXT NOT NULL, 
	active BOOLEAN NOT NULL, 
	version INTEGER NOT NULL, 
	created_ms INTEGER NOT NULL, 
	updated_ms INTEGER NOT NULL, 
	CONSTRAINT pk_webhooks PRIMARY KEY (id)
);
CREATE TABLE workspaces (
	id TEXT NOT NULL, 
	description TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	created_ms INTEGER NOT NULL, 
	updated_ms INTEGER NOT NULL, 
	CONSTRAINT pk_workspaces PRIMARY KEY (id)
);
INSERT INTO "workspaces" VALUES('vision','',4,1795062819840,1795062819860);
CREATE INDEX audit_by_actor ON audit (actor, seq);
CREATE INDEX audit_by_target ON audit (target, seq);
CREATE INDEX audit_by_workspace ON audit (workspace, seq);
CREATE INDEX decisions_by_job ON decisions (job, seq);
CREATE INDEX decisions_by_quota ON decisions (quota, seq);
CREATE INDEX decisions_by_workspace ON decisions (workspace, seq);
CREATE INDEX events_by_job ON events (job, seq);
CREATE INDEX idempotency_by_time ON idempotency (at_ms);
CREATE INDEX jobs_by_quota ON jobs (quota, submitted_ms, id);
CREATE INDEX jobs_by_time ON jobs (submitted_ms, id);
CREATE INDEX jobs_by_workspace ON jobs (workspace, submitted_ms, id);
CREATE INDEX jobs_open_by_time ON jobs (submitted_ms, id) WHERE is_open = 1;
CREATE INDEX jobs_open_by_workspace ON jobs (workspace, submitted_ms, id) WHERE is_open = 1;
CREATE INDEX preemptions_by_preemptor ON preemptions (preemptor, seq);
CREATE INDEX preemptions_by_quota ON preemptions (quota, seq);
CREATE INDEX preemptions_by_workspace ON preemptions (workspace, seq);
CREATE INDEX deliveries_by_webhook ON deliveries (webhook, event_seq);
CREATE INDEX deliveries_pending ON deliveries (due_ms, id) WHERE state = 'pending';
CREATE INDEX victims_by_job ON preemption_victims (job, preemption);
CREATE INDEX victims_by_quota ON preemption_victims (quota, preemption);
CREATE INDEX victims_by_workspace ON preemption_victims (workspace, preemption);
CREATE INDEX runs_open ON runs (job, run) WHERE ended_ms IS NULL;
CREATE INDEX placements_by_node ON placements (node, from_ms);
CREATE INDEX placements_open ON placements (job, replica) WHERE until_ms IS NULL;
CREATE INDEX jobs_by_phase ON jobs (phase, submitted_ms, id);
CREATE INDEX jobs_by_workspace_phase ON jobs (workspace, phase, submitted_ms, id);
CREATE INDEX jobs_by_quota_phase ON jobs (quota, phase, submitted_ms, id);
CREATE INDEX events_by_quota ON events (quota, seq);
CREATE INDEX deliveries_done ON deliveries (due_ms, id) WHERE state <> 'pending';
COMMIT;
