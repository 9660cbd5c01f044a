BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
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
INSERT INTO "audit" VALUES(1,1795061972306,'(server)','first start','admin',NULL,'{}');
INSERT INTO "audit" VALUES(2,1795061972311,'(server)','node.joined','node:node-0',NULL,'{"pool":"default","model":"A100","gpus":8}');
INSERT INTO "audit" VALUES(3,1795061972313,'(server)','node.joined','node:node-1',NULL,'{"pool":"default","model":"A100","gpus":8}');
INSERT INTO "audit" VALUES(4,1795061972601,'admin','quota.created','quota:team',NULL,'{"parent":null,"min":[16000,null,null]}');
INSERT INTO "audit" VALUES(5,1795061972607,'admin','quota.created','quota:a',NULL,'{"parent":"team","min":[8000,null,null]}');
INSERT INTO "audit" VALUES(6,1795061972609,'admin','quota.created','quota:b',NULL,'{"parent":"team","min":[8000,null,null]}');
INSERT INTO "audit" VALUES(7,1795061972613,'admin','quota.updated','quota:a',NULL,'{"changed":["self_level"]}');
INSERT INTO "audit" VALUES(8,1795061972659,'admin','workspace.created','workspace:vision','vision','{"owners":["admin"]}');
INSERT INTO "audit" VALUES(9,1795061972664,'admin','workspace.bound','workspace:vision','vision','{"quota":"team"}');
INSERT INTO "audit" VALUES(10,1795061972667,'admin','workspace.bound','workspace:vision','vision','{"quota":"a"}');
INSERT INTO "audit" VALUES(11,1795061972670,'admin','workspace.bound','workspace:vision','vision','{"quota":"b"}');
INSERT INTO "audit" VALUES(12,1795061972673,'admin','job.submit','job:dlc-r8m19n67xz','vision','{"name":"stays","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(13,1795061972683,'admin','job.submit','job:dlc-680gqf80mw','vision','{"name":"ends","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(14,1795061972687,'admin','job.submit','job:dlc-b38vmyzzph','vision','{"name":"taken","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(15,1795061972690,'admin','job.submit','job:dlc-nfby4btkct','vision','{"name":"idle","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(16,1795061974822,'admin','job.cancel','job:dlc-680gqf80mw','vision','{}');
INSERT INTO "audit" VALUES(17,1795061974832,'admin','job.submit','job:dlc-r2k5k8qczh','vision','{"name":"started","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(18,1795061974837,'admin','job.submit','job:dlc-m172r9n0xq','vision','{"name":"through","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(19,1795061975163,'admin','job.submit','job:dlc-7zbahq2ndz','vision','{"name":"taker","priority":7,"module":"DLC"}');
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
INSERT INTO "decisions" VALUES(1,1795061972673,'Start','dlc-r8m19n67xz','vision','a','FitsFree','{"type":"Start","job":"dlc-r8m19n67xz","run":1,"claim":"regular","replicas":[{"replica":0,"node":"node-0","devices":[0,1]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(2,1795061972683,'Start','dlc-680gqf80mw','vision','a','FitsFree','{"type":"Start","job":"dlc-680gqf80mw","run":1,"claim":"regular","replicas":[{"replica":0,"node":"node-0","devices":[2]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(3,1795061972687,'Start','dlc-b38vmyzzph','vision','a','FitsFree','{"type":"Start","job":"dlc-b38vmyzzph","run":1,"claim":"regular","replicas":[{"replica":0,"node":"node-0","devices":[3,4]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(4,1795061972690,'Start','dlc-nfby4btkct','vision','b','FitsIdle','{"type":"Start","job":"dlc-nfby4btkct","run":1,"claim":"idle","replicas":[{"replica":0,"node":"node-0","devices":[5,6]}],"step":"FREE","reason":{"code":"FitsIdle","facts":[["free","2 GPU"]]}}');
INSERT INTO "decisions" VALUES(5,1795061974822,'Stop','dlc-680gqf80mw','vision','a','CancelledByOwner','{"type":"Stop","job":"dlc-680gqf80mw","run":1,"replicas":[0],"grace_ms":30000,"reason":{"code":"CancelledByOwner"}}');
INSERT INTO "decisions" VALUES(6,1795061974832,'Start','dlc-r2k5k8qczh','vision','a','FitsFree','{"type":"Start","job":"dlc-r2k5k8qczh","run":1,"claim":"regular","replicas":[{"replica":0,"node":"node-1","devices":[0,1,2]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(7,1795061974837,'Start','dlc-m172r9n0xq','vision','a','FitsFree','{"type":"Start","job":"dlc-m172r9n0xq","run":1,"claim":"regular","replicas":[{"replica":0,"node":"node-0","devices":[2]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(8,1795061975163,'Evict','dlc-b38vmyzzph','vision','a','SelfLevelOwn','{"type":"Evict","job":"dlc-b38vmyzzph","run":1,"kind":"core","replicas":[0],"preemptor":"dlc-7zbahq2ndz","cost":84950000,"lost_work":84950000,"grace_ms":30000,"requeued":true,"counts":true,"reason":{"code":"SelfLevelOwn","facts":[["preemptor","dlc-7zbahq2ndz"],["quota","a"]]}}');
INSERT INTO "decisions" VALUES(9,1795061975163,'Start','dlc-7zbahq2ndz','vision','a','AfterPreemption','{"type":"Start","job":"dlc-7zbahq2ndz","run":1,"claim":"regular","replicas":[{"replica":0,"node":"node-0","devices":[2,7]}],"step":"OWN","reason":{"code":"AfterPreemption","facts":[["victims","1"],["rule","own quota"],["highest","1"],["cost","85"]]},"preemption":{"preemptor":"dlc-7zbahq2ndz","step":"OWN","victims":[{"job":"dlc-b38vmyzzph","kind":"core","replicas":[0],"quota":"a","priority":1,"lost_work":84950000,"cost":84950000,"freed":{"gpu_milli":2000}}],"demoted":[],"cost":84950000,"cost_without_ladder":84950000,"highest_priority":1,"tried":[{"step":"FREE","reason":{"code":"OwnQuotaFull","facts":[["quota","a"],["free","1 GPU"],["min","8 GPU"],["wanted","2 GPU"]]}},{"step":"IDLE","reason":{"code":"NoEligibleVictims","facts":[["step","idle borrowers and own surplus"]]}}]}}');
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
INSERT INTO "events" VALUES(1,1795061972311,'node.joined',NULL,NULL,NULL,'{"node":"node-0","pool":"default","model":"A100","gpus":8}');
INSERT INTO "events" VALUES(2,1795061972313,'node.joined',NULL,NULL,NULL,'{"node":"node-1","pool":"default","model":"A100","gpus":8}');
INSERT INTO "events" VALUES(3,1795061972601,'quota.created',NULL,'team',NULL,'{"quota":"team","parent":null,"min":[16000,null,null]}');
INSERT INTO "events" VALUES(4,1795061972607,'quota.created',NULL,'a',NULL,'{"quota":"a","parent":"team","min":[8000,null,null]}');
INSERT INTO "events" VALUES(5,1795061972609,'quota.created',NULL,'b',NULL,'{"quota":"b","parent":"team","min":[8000,null,null]}');
INSERT INTO "events" VALUES(6,1795061972613,'quota.updated',NULL,'a',NULL,'{"quota":"a","changed":["self_level"]}');
INSERT INTO "events" VALUES(7,1795061972659,'workspace.created','vision',NULL,NULL,'{"owners":["admin"]}');
INSERT INTO "events" VALUES(8,1795061972664,'workspace.bound','vision',NULL,NULL,'{"quota":"team"}');
INSERT INTO "events" VALUES(9,1795061972667,'workspace.bound','vision',NULL,NULL,'{"quota":"a"}');
INSERT INTO "events" VALUES(10,1795061972670,'workspace.bound','vision',NULL,NULL,'{"quota":"b"}');
INSERT INTO "events" VALUES(11,1795061972673,'job.submitted','vision','a','dlc-r8m19n67xz','{"name":"stays","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(12,1795061972673,'job.started','vision','a','dlc-r8m19n67xz','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(13,1795061972683,'job.submitted','vision','a','dlc-680gqf80mw','{"name":"ends","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(14,1795061972683,'job.started','vision','a','dlc-680gqf80mw','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(15,1795061972687,'job.submitted','vision','a','dlc-b38vmyzzph','{"name":"taken","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(16,1795061972687,'job.started','vision','a','dlc-b38vmyzzph','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(17,1795061972690,'job.submitted','vision','b','dlc-nfby4btkct','{"name":"idle","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(18,1795061972690,'job.started','vision','b','dlc-nfby4btkct','{"reason":"FitsIdle","run":1,"claim":"idle","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(19,1795061974822,'job.cancelled','vision','a','dlc-680gqf80mw','{}');
INSERT INTO "events" VALUES(20,1795061974822,'job.stopping','vision','a','dlc-680gqf80mw','{"reason":"CancelledByOwner","run":1,"grace_ms":30000}');
INSERT INTO "events" VALUES(21,1795061974832,'job.submitted','vision','a','dlc-r2k5k8qczh','{"name":"started","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(22,1795061974832,'job.started','vision','a','dlc-r2k5k8qczh','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(23,1795061974837,'job.submitted','vision','a','dlc-m172r9n0xq','{"name":"through","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(24,1795061974837,'job.started','vision','a','dlc-m172r9n0xq','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(25,1795061975141,'job.ended','vision','a','dlc-m172r9n0xq','{"run":1,"phase":"Succeeded","detail":""}');
INSERT INTO "events" VALUES(26,1795061975163,'job.submitted','vision','a','dlc-7zbahq2ndz','{"name":"taker","priority":7,"module":"DLC"}');
INSERT INTO "events" VALUES(27,1795061975163,'job.evicted','vision','a','dlc-b38vmyzzph','{"reason":"SelfLevelOwn","run":1,"what":"core","grace_ms":30000,"lost_gpu_seconds":84.95,"requeued":true,"counts":true,"moved":false}');
INSERT INTO "events" VALUES(28,1795061975163,'job.started','vision','a','dlc-7zbahq2ndz','{"reason":"AfterPreemption","run":1,"claim":"regular","step":"OWN","surplus":false}');
CREATE TABLE idempotency (
	actor TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	status INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	at_ms INTEGER NOT NULL, 
	CONSTRAINT pk_idempotency PRIMARY KEY (actor, "key")
);
INSERT INTO "idempotency" VALUES('admin','jGizkIEuT-ezdnLi4rko8bsM','2d5115cb88870aa821d4cb3e73bd99c367c4d4bbc0c17b8f57e1ca22e4be469b',200,'{"id":"team","version":1,"items":[]}',1795061972601);
INSERT INTO "idempotency" VALUES('admin','9PBVti4M_VCqR2XHqIIvr6Vg','3a3e53da3c5c2a9926365cb4881aa0117a20b5fd92855caed4436af591b90e99',200,'{"id":"a","version":1,"items":[]}',1795061972607);
INSERT INTO "idempotency" VALUES('admin','f5_fjD9IAttfS_370kJazo5J','affcfa89d67115768a006c4e467d4f62a5a61a282267aaddb59d54541f4b0b2a',200,'{"id":"b","version":1,"items":[]}',1795061972609);
INSERT INTO "idempotency" VALUES('admin','ymiCTtIChSHz5ZHvEM-b7bTX','39bd5b46e33ce64a00164121e0428f808f0c8d13d6b8fa17d943494acca98541',200,'{"id":"vision","version":1,"items":[]}',1795061972659);
INSERT INTO "idempotency" VALUES('admin','QM7z8kNtTbxp5_UReOsWuozt','d70be795b67d004ab18ca8eb0ba4e2b2affd2b700c89bcf0fe7ccb40a8768048',200,'{"id":"dlc-r8m19n67xz","version":null,"items":[]}',1795061972673);
INSERT INTO "idempotency" VALUES('admin','vLW4AJ_umrkUISPdPRgTtgyG','6f8242340556e6e4c2e81fe1df6f08d4be55e3539d8c18d40c9e19ce1484dcf5',200,'{"id":"dlc-680gqf80mw","version":null,"items":[]}',1795061972683);
INSERT INTO "idempotency" VALUES('admin','ZrixQYFC99UCJzF8391FC7tk','0f5f9a24be6c757e936189b214c88e5dbde96b8e15ef89a4bcf6f48919c46133',200,'{"id":"dlc-b38vmyzzph","version":null,"items":[]}',1795061972687);
INSERT INTO "idempotency" VALUES('admin','A11n8uw5wmd3wKv0EJfStAue','1c3c5a64d11718cfae45102ec205368f5bba0a16931f4f86b7df80173d092b55',200,'{"id":"dlc-nfby4btkct","version":null,"items":[]}',1795061972690);
INSERT INTO "idempotency" VALUES('admin','8eWrvBPf8iajzePxTq513P5d','439e76e135bc16e3c545af585f85d5169861cefb8761791e71aa9d2c7d2da0a7',200,'{"id":"dlc-680gqf80mw","version":null,"items":[]}',1795061974822);
INSERT INTO "idempotency" VALUES('admin','VvUCkpB6bRhcS04Hw_Ru5YeN','194a1e776a4d42affc303fece9a3848ec6e870091c615c00d3c368d4c62b7b24',200,'{"id":"dlc-r2k5k8qczh","version":null,"items":[]}',1795061974832);
INSERT INTO "idempotency" VALUES('admin','Xtlf3dO0PzoQ9qxiZNuQomXL','efd75fee19e8e0099b7745fa3dc4f7936a73da94d28622ac82c1cacdcea20807',200,'{"id":"dlc-m172r9n0xq","version":null,"items":[]}',1795061974837);
INSERT INTO "idempotency" VALUES('admin','hy-EH-1694z5GVaGTmZrZg3g','1f54f799f0eb6cf5e463fab7091ce1eaf2eb166e1c66869418111d6f0e9c8681',200,'{"id":"dlc-7zbahq2ndz","version":null,"items":[]}',1795061975163);
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
INSERT INTO "jobs" VALUES('dlc-r8m19n67xz','vision','a','admin','stays','DLC',1,'Running',1795061972673,1795061972673,1795061972680,NULL,2000,1,'FitsFree',1,'{"spec":{"id":"dlc-r8m19n67xz","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":2000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1795061972673,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:admin","vision/role:owner"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1795061972673,"run":1,"started_ms":1795061972680,"core":{"started_ms":1795061972680,"places":[{"replica":0,"node":"node-0","devices":[0,1]}]},"reason":"FitsFree","story":["1795061972673 submitted","1795061972673 Running: FitsFree"]}','{"program":{},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1795061972680);
INSERT INTO "jobs" VALUES('dlc-680gqf80mw','vision','a','admin','ends','DLC',1,'Cancelled',1795061972683,1795061972683,1795061972685,1795061974822,1000,1,'cancelled',0,'{"spec":{"id":"dlc-680gqf80mw","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1795061972683,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:admin","vision/role:owner"]},"phase":"Cancelled","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1795061972683,"run":1,"started_ms":1795061972685,"reason":"cancelled","story":["1795061972683 submitted","1795061972683 Running: FitsFree","1795061974822 Cancelled: cancelled"]}','{"program":{},"on_hold":false,"confirmed":[],"late_ms":null,"restart_key":""}',1795061974827);
INSERT INTO "jobs" VALUES('dlc-b38vmyzzph','vision','a','admin','taken','DLC',1,'Waiting',1795061972687,1795061972687,1795061972688,NULL,2000,1,'OwnQuotaFull',1,'{"spec":{"id":"dlc-b38vmyzzph","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":2000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1795061972687,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:admin","vision/role:owner"]},"phase":"Waiting","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1795061975163,"run":1,"started_ms":1795061972688,"preempted_ms":[1795061975163],"preempted_by":"dlc-7zbahq2ndz","lost_last":84950000,"reason":"SelfLevelOwn","told":{"code":"OwnQuotaFull","facts":[["quota","a"],["free","1 GPU"],["min","8 GPU"],["wanted","2 GPU"]]},"story":["1795061972687 submitted","1795061972687 Running: FitsFree","1795061975163 Waiting: SelfLevelOwn"]}','{"program":{},"on_hold":false,"confirmed":[],"late_ms":null,"restart_key":""}',1795061975168);
INSERT INTO "jobs" VALUES('dlc-nfby4btkct','vision','b','admin','idle','DLC',1,'Running',1795061972690,1795061972690,1795061972691,NULL,2000,1,'FitsIdle',1,'{"spec":{"id":"dlc-nfby4btkct","quota":"b","groups":[{"replicas":1,"shape":{"gpu_milli":2000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1795061972690,"module":"DLC","priority":1,"workspace":"vision","idle":"only","grace_ms":30000,"subjects":["vision/user:admin","vision/role:owner"]},"phase":"Running","claim":"idle","priority":1,"core_replicas":1,"queued_ms":1795061972690,"run":1,"started_ms":1795061972691,"core":{"started_ms":1795061972691,"places":[{"replica":0,"node":"node-0","devices":[5,6]}]},"reason":"FitsIdle","story":["1795061972690 submitted","1795061972690 Running: FitsIdle"]}','{"program":{},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1795061972691);
INSERT INTO "jobs" VALUES('dlc-r2k5k8qczh','vision','a','admin','started','DLC',1,'Running',1795061974832,1795061974832,1795061974834,NULL,3000,1,'FitsFree',1,'{"spec":{"id":"dlc-r2k5k8qczh","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":3000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1795061974832,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:admin","vision/role:owner"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1795061974832,"run":1,"started_ms":1795061974834,"core":{"started_ms":1795061974834,"places":[{"replica":0,"node":"node-1","devices":[0,1,2]}]},"reason":"FitsFree","story":["1795061974832 submitted","1795061974832 Running: FitsFree"]}','{"program":{},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1795061974834);
INSERT INTO "jobs" VALUES('dlc-m172r9n0xq','vision','a','admin','through','DLC',1,'Succeeded',1795061974837,1795061974837,1795061974839,1795061975141,1000,1,'ended',0,'{"spec":{"id":"dlc-m172r9n0xq","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1795061974837,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:admin","vision/role:owner"]},"phase":"Succeeded","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1795061974837,"run":1,"started_ms":1795061974839,"reason":"ended","story":["1795061974837 submitted","1795061974837 Running: FitsFree","1795061975141 Succeeded: ended"]}','{"program":{"seconds":0.3},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1795061975141);
INSERT INTO "jobs" VALUES('dlc-7zbahq2ndz','vision','a','admin','taker','DLC',7,'Running',1795061975163,1795061975163,1795061975168,NULL,2000,1,'AfterPreemption',1,'{"spec":{"id":"dlc-7zbahq2ndz","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":2000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1795061975163,"module":"DLC","priority":7,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:admin","vision/role:owner"]},"phase":"Running","claim":"regular","priority":7,"core_replicas":1,"queued_ms":1795061975163,"run":1,"started_ms":1795061975168,"core":{"started_ms":1795061975168,"places":[{"replica":0,"node":"node-0","devices":[2,7]}]},"reason":"AfterPreemption","story":["1795061975163 submitted","1795061975163 Running: AfterPreemption"]}','{"program":{},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1795061975168);
CREATE TABLE lease (
	id INTEGER NOT NULL, 
	holder TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	until_ms INTEGER NOT NULL, 
	batch INTEGER NOT NULL, 
	CONSTRAINT pk_lease PRIMARY KEY (id)
);
INSERT INTO "lease" VALUES(1,'',1,0,29);
CREATE TABLE losses (
	preemption INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	at_ms INTEGER NOT NULL, 
	lost_work INTEGER NOT NULL, 
	preempted INTEGER NOT NULL, 
	claim TEXT NOT NULL, 
	workspace TEXT NOT NULL, 
	quota TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	module TEXT NOT NULL, 
	taker_workspace TEXT NOT NULL, 
	taker_quota TEXT NOT NULL, 
	CONSTRAINT pk_losses PRIMARY KEY (preemption, position), 
	CONSTRAINT fk_losses_preemption FOREIGN KEY(preemption, position) REFERENCES preemption_victims (preemption, position)
)
 WITHOUT ROWID

;
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
INSERT INTO "nodes" VALUES('node-0','default','Ready','{"index":0,"spec":{"name":"node-0","pool":"default","model":"A100","gpus":8,"cpu_milli":128000,"memory_mib":1048576,"labels":[["virtual","true"]]},"state":"Ready"}',1,1795061972311,1795061972311);
INSERT INTO "nodes" VALUES('node-1','default','Ready','{"index":1,"spec":{"name":"node-1","pool":"default","model":"A100","gpus":8,"cpu_milli":128000,"memory_mib":1048576,"labels":[["virtual","true"]]},"state":"Ready"}',1,1795061972313,1795061972313);
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
INSERT INTO "placements" VALUES('dlc-680gqf80mw',1,0,1795061972683,'node-0','[2]',1000,1795061974827);
INSERT INTO "placements" VALUES('dlc-7zbahq2ndz',1,0,1795061975163,'node-0','[2,7]',2000,NULL);
INSERT INTO "placements" VALUES('dlc-b38vmyzzph',1,0,1795061972687,'node-0','[3,4]',2000,1795061975168);
INSERT INTO "placements" VALUES('dlc-m172r9n0xq',1,0,1795061974837,'node-0','[2]',1000,1795061975141);
INSERT INTO "placements" VALUES('dlc-nfby4btkct',1,0,1795061972690,'node-0','[5,6]',2000,NULL);
INSERT INTO "placements" VALUES('dlc-r2k5k8qczh',1,0,1795061974832,'node-1','[0,1,2]',3000,NULL);
INSERT INTO "placements" VALUES('dlc-r8m19n67xz',1,0,1795061972673,'node-0','[0,1]',2000,NULL);
CREATE TABLE pools (
	name TEXT NOT NULL, 
	record TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	created_ms INTEGER NOT NULL, 
	updated_ms INTEGER NOT NULL, 
	CONSTRAINT pk_pools PRIMARY KEY (name)
);
INSERT INTO "pools" VALUES('default','{"name":"default","mixed":false,"asked":[{"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"replicas":2},{"shape":{"gpu_milli":2000,"cpu_milli":0,"memory_mib":0},"replicas":4},{"shape":{"gpu_milli":3000,"cpu_milli":0,"memory_mib":0},"replicas":1}],"pictured":[{"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"replicas":1},{"shape":{"gpu_milli":2000,"cpu_milli":0,"memory_mib":0},"replicas":3}]}',1,1795061972311,1795061975163);
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
INSERT INTO "preemption_victims" VALUES(1,0,'dlc-b38vmyzzph','vision','a',1,2000,84950000,84950000);
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
INSERT INTO "preemptions" VALUES(1,1795061975163,'dlc-7zbahq2ndz','vision','a','OWN',84950000,'{"preemptor":"dlc-7zbahq2ndz","step":"OWN","victims":[{"job":"dlc-b38vmyzzph","kind":"core","replicas":[0],"quota":"a","priority":1,"lost_work":84950000,"cost":84950000,"freed":{"gpu_milli":2000}}],"demoted":[],"cost":84950000,"cost_without_ladder":84950000,"highest_priority":1,"tried":[{"step":"FREE","reason":{"code":"OwnQuotaFull","facts":[["quota","a"],["free","1 GPU"],["min","8 GPU"],["wanted","2 GPU"]]}},{"step":"IDLE","reason":{"code":"NoEligibleVictims","facts":[["step","idle borrowers and own surplus"]]}}]}');
CREATE TABLE quota_admins (
	user_name TEXT NOT NULL, 
	quota TEXT NOT NULL, 
	CONSTRAINT pk_quota_admins PRIMARY KEY (user_name, quota), 
	CONSTRAINT fk_quota_admins_quota FOREIGN KEY(quota) REFERENCES quotas (id), 
	CONSTRAINT fk_quota_admins_user_name FOREIGN KEY(user_name) REFERENCES users (name)
);
CREATE TABLE quota_samples (
	quota TEXT NOT NULL, 
	span_ms INTEGER NOT NULL, 
	at_ms INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	CONSTRAINT pk_quota_samples PRIMARY KEY (quota, span_ms, at_ms), 
	CONSTRAINT fk_quota_samples_quota FOREIGN KEY(quota) REFERENCES quotas (id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
CREATE TABLE quotas (
	id TEXT NOT NULL, 
	parent TEXT, 
	record TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	created_ms INTEGER NOT NULL, 
	updated_ms INTEGER NOT NULL, 
	CONSTRAINT pk_quotas PRIMARY KEY (id)
);
INSERT INTO "quotas" VALUES('team',NULL,'{"order":1,"spec":{"id":"team","min":{},"draws":[["default",{"gpu_milli":16000}]],"reserved":{},"strategy":"intelligent","lending":true},"min":{"gpu_milli":16000},"actual":{"gpu_milli":16000},"shadow":{}}',1,1795061972601,1795061972601);
INSERT INTO "quotas" VALUES('a','team','{"order":2,"spec":{"id":"a","parent":"team","min":{"gpu_milli":8000},"reserved":{},"strategy":"intelligent","self_level":{"high":{"low":6,"high":9},"low":{"low":1,"high":5},"modules":["DLC","DSW","EAS"],"scope":"own"},"lending":true},"min":{"gpu_milli":8000},"actual":{"gpu_milli":8000},"shadow":{}}',2,1795061972607,1795061972613);
INSERT INTO "quotas" VALUES('b','team','{"order":3,"spec":{"id":"b","parent":"team","min":{"gpu_milli":8000},"reserved":{},"strategy":"intelligent","lending":true},"min":{"gpu_milli":8000},"actual":{"gpu_milli":8000},"shadow":{}}',1,1795061972609,1795061972609);
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
INSERT INTO "runs" VALUES('dlc-680gqf80mw',1,'regular',1795061972683,1795061972685,1795061974827,'stopped','CancelledByOwner');
INSERT INTO "runs" VALUES('dlc-7zbahq2ndz',1,'regular',1795061975163,1795061975168,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-b38vmyzzph',1,'regular',1795061972687,1795061972688,1795061975168,'evicted','SelfLevelOwn');
INSERT INTO "runs" VALUES('dlc-m172r9n0xq',1,'regular',1795061974837,1795061974839,1795061975141,'succeeded','');
INSERT INTO "runs" VALUES('dlc-nfby4btkct',1,'idle',1795061972690,1795061972691,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-r2k5k8qczh',1,'regular',1795061974832,1795061974834,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-r8m19n67xz',1,'regular',1795061972673,1795061972680,NULL,NULL,'');
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
INSERT INTO "tokens" VALUES('HvoL0CWsLE','admin','first start','30df72db46aa91ad133971f64809f0a203284461ec505cc13a4859ef6af7d9de',1795061972306,NULL,NULL,0);
CREATE TABLE usage (
	job TEXT NOT NULL, 
	run INTEGER NOT NULL, 
	claim TEXT NOT NULL, 
	from_ms INTEGER NOT NULL, 
	until_ms INTEGER, 
	gpu_milli INTEGER NOT NULL, 
	begins INTEGER NOT NULL, 
	workspace TEXT NOT NULL, 
	quota TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	module TEXT NOT NULL, 
	CONSTRAINT pk_usage PRIMARY KEY (job, run, claim, from_ms), 
	CONSTRAINT fk_usage_job FOREIGN KEY(job, run) REFERENCES runs (job, run)
);
INSERT INTO "usage" VALUES('dlc-680gqf80mw',1,'guaranteed',1795061972683,NULL,1000,1,'vision','a','admin','DLC');
INSERT INTO "usage" VALUES('dlc-b38vmyzzph',1,'guaranteed',1795061972687,NULL,2000,1,'vision','a','admin','DLC');
INSERT INTO "usage" VALUES('dlc-nfby4btkct',1,'idle',1795061972690,NULL,2000,1,'vision','b','admin','DLC');
INSERT INTO "usage" VALUES('dlc-r8m19n67xz',1,'guaranteed',1795061972673,NULL,2000,1,'vision','a','admin','DLC');
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
INSERT INTO "users" VALUES('admin','made at the first start','',1,0,NULL,NULL,1,1795061972306,1795061972306);
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
INSERT INTO "workspaces" VALUES('vision','',4,1795061972659,1795061972670);
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
CREATE INDEX usage_by_time ON usage (from_ms);
CREATE INDEX usage_open ON usage (from_ms) WHERE until_ms IS NULL;
CREATE INDEX losses_by_time ON losses (at_ms);
COMMIT;
