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
INSERT INTO "audit" VALUES(1,1700000000000,'(server)','user.created','user:root',NULL,'{"platform_admin":true,"disabled":false}');
INSERT INTO "audit" VALUES(2,1700000000000,'root','user.created','user:ann',NULL,'{"platform_admin":false,"disabled":false}');
INSERT INTO "audit" VALUES(3,1700000000000,'root','user.created','user:pat',NULL,'{"platform_admin":false,"disabled":false}');
INSERT INTO "audit" VALUES(4,1700000000000,'root','user.created','user:out',NULL,'{"platform_admin":false,"disabled":false}');
INSERT INTO "audit" VALUES(5,1700000000000,'root','node.joined','node:n0',NULL,'{"pool":"p","model":"GPU","gpus":8}');
INSERT INTO "audit" VALUES(6,1700000000000,'root','node.joined','node:n1',NULL,'{"pool":"p","model":"GPU","gpus":8}');
INSERT INTO "audit" VALUES(7,1700000000000,'root','quota.created','quota:team',NULL,'{"parent":null,"min":[16000,null,null]}');
INSERT INTO "audit" VALUES(8,1700000000000,'root','quota.created','quota:a',NULL,'{"parent":"team","min":[8000,null,null]}');
INSERT INTO "audit" VALUES(9,1700000000000,'root','quota.created','quota:b',NULL,'{"parent":"team","min":[8000,null,null]}');
INSERT INTO "audit" VALUES(10,1700000000000,'root','workspace.created','workspace:vision','vision','{"owners":["root"]}');
INSERT INTO "audit" VALUES(11,1700000000000,'root','workspace.member_added','workspace:vision','vision','{"user":"ann","role":"developer"}');
INSERT INTO "audit" VALUES(12,1700000000000,'root','workspace.member_added','workspace:vision','vision','{"user":"pat","role":"operator"}');
INSERT INTO "audit" VALUES(13,1700000000000,'root','workspace.bound','workspace:vision','vision','{"quota":"team"}');
INSERT INTO "audit" VALUES(14,1700000000000,'root','workspace.bound','workspace:vision','vision','{"quota":"a"}');
INSERT INTO "audit" VALUES(15,1700000000000,'root','workspace.bound','workspace:vision','vision','{"quota":"b"}');
INSERT INTO "audit" VALUES(16,1700000000000,'root','quota.updated','quota:a',NULL,'{"changed":["self_level","child_level"],"changes":[{"what":"self_level","before":"none","after":"6-9 over 1-5 DLC,DSW,EAS in own"},{"what":"child_level","before":"none","after":"1-5 DLC,DSW,EAS"}]}');
INSERT INTO "audit" VALUES(17,1700000000000,'ann','job.submit','job:dlc-e01f4vw3ne','vision','{"name":"low-0","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(18,1700000000000,'ann','job.submit','job:dlc-556jqvt3r8','vision','{"name":"low-1","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(19,1700000000000,'ann','job.submit','job:dlc-zp9h5mr5f0','vision','{"name":"low-2","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(20,1700000000000,'ann','job.submit','job:dlc-heyc8wmv7b','vision','{"name":"low-3","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(21,1700000000000,'ann','job.submit','job:dlc-4qgv8kxnv1','vision','{"name":"low-4","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(22,1700000000000,'ann','job.submit','job:dlc-1haegq9t0q','vision','{"name":"low-5","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(23,1700000000000,'ann','job.submit','job:dlc-w2v7a5ptqt','vision','{"name":"low-6","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(24,1700000000000,'ann','job.submit','job:dlc-6927e3nbff','vision','{"name":"low-7","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(25,1700000000000,'ann','job.submit','job:dlc-54h6qvvg43','vision','{"name":"other-0","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(26,1700000000000,'ann','job.submit','job:dlc-bt1a0pmrxw','vision','{"name":"other-1","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(27,1700000000000,'ann','job.submit','job:dlc-ddpt1769b6','vision','{"name":"other-2","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(28,1700000000000,'ann','job.submit','job:dlc-tgr84rvsnk','vision','{"name":"other-3","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(29,1700000000000,'ann','job.submit','job:dlc-ggxves5znx','vision','{"name":"other-4","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(30,1700000000000,'ann','job.submit','job:dlc-m91c14257n','vision','{"name":"other-5","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(31,1700000000000,'ann','job.submit','job:dlc-t7nbsf8b6g','vision','{"name":"other-6","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(32,1700000000000,'ann','job.submit','job:dlc-9npt0w4059','vision','{"name":"other-7","priority":1,"module":"DLC"}');
INSERT INTO "audit" VALUES(33,1700000000000,'ann','job.submit','job:dlc-qjhn456dz7','vision','{"name":"guarded","priority":3,"module":"DLC"}');
INSERT INTO "audit" VALUES(34,1700003721000,'ann','job.submit','job:dlc-tbnqsncdnz','vision','{"name":"taker","priority":7,"module":"DLC"}');
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
INSERT INTO "decisions" VALUES(1,1700000000000,'Start','dlc-e01f4vw3ne','vision','a','FitsFree','{"type":"Start","job":"dlc-e01f4vw3ne","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n0","devices":[0]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(2,1700000000000,'Start','dlc-556jqvt3r8','vision','a','FitsFree','{"type":"Start","job":"dlc-556jqvt3r8","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n0","devices":[1]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(3,1700000000000,'Start','dlc-zp9h5mr5f0','vision','a','FitsFree','{"type":"Start","job":"dlc-zp9h5mr5f0","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n0","devices":[2]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(4,1700000000000,'Start','dlc-heyc8wmv7b','vision','a','FitsFree','{"type":"Start","job":"dlc-heyc8wmv7b","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n0","devices":[3]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(5,1700000000000,'Start','dlc-4qgv8kxnv1','vision','a','FitsFree','{"type":"Start","job":"dlc-4qgv8kxnv1","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n0","devices":[4]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(6,1700000000000,'Start','dlc-1haegq9t0q','vision','a','FitsFree','{"type":"Start","job":"dlc-1haegq9t0q","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n0","devices":[5]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(7,1700000000000,'Start','dlc-w2v7a5ptqt','vision','a','FitsFree','{"type":"Start","job":"dlc-w2v7a5ptqt","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n0","devices":[6]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(8,1700000000000,'Start','dlc-6927e3nbff','vision','a','FitsFree','{"type":"Start","job":"dlc-6927e3nbff","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n0","devices":[7]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(9,1700000000000,'Start','dlc-54h6qvvg43','vision','b','FitsFree','{"type":"Start","job":"dlc-54h6qvvg43","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n1","devices":[0]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(10,1700000000000,'Start','dlc-bt1a0pmrxw','vision','b','FitsFree','{"type":"Start","job":"dlc-bt1a0pmrxw","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n1","devices":[1]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(11,1700000000000,'Start','dlc-ddpt1769b6','vision','b','FitsFree','{"type":"Start","job":"dlc-ddpt1769b6","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n1","devices":[2]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(12,1700000000000,'Start','dlc-tgr84rvsnk','vision','b','FitsFree','{"type":"Start","job":"dlc-tgr84rvsnk","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n1","devices":[3]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(13,1700000000000,'Start','dlc-ggxves5znx','vision','b','FitsFree','{"type":"Start","job":"dlc-ggxves5znx","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n1","devices":[4]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(14,1700000000000,'Start','dlc-m91c14257n','vision','b','FitsFree','{"type":"Start","job":"dlc-m91c14257n","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n1","devices":[5]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(15,1700000000000,'Start','dlc-t7nbsf8b6g','vision','b','FitsFree','{"type":"Start","job":"dlc-t7nbsf8b6g","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n1","devices":[6]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(16,1700000000000,'Start','dlc-9npt0w4059','vision','b','FitsFree','{"type":"Start","job":"dlc-9npt0w4059","run":1,"claim":"regular","replicas":[{"replica":0,"node":"n1","devices":[7]}],"step":"FREE","reason":{"code":"FitsFree"}}');
INSERT INTO "decisions" VALUES(17,1700003601000,'Hold','dlc-qjhn456dz7','vision','b','StarvationGuard','{"type":"Hold","job":"dlc-qjhn456dz7","replicas":[],"waiting_on":[],"expires_ms":null,"step":"FREE","reason":{"code":"StarvationGuard","facts":[["waited","3601 s"]]}}');
INSERT INTO "decisions" VALUES(18,1700003721000,'Evict','dlc-1haegq9t0q','vision','a','SelfLevelOwn','{"type":"Evict","job":"dlc-1haegq9t0q","run":1,"kind":"core","replicas":[0],"preemptor":"dlc-tbnqsncdnz","cost":3761000000,"lost_work":3761000000,"grace_ms":60000,"requeued":true,"counts":true,"reason":{"code":"SelfLevelOwn","facts":[["preemptor","dlc-tbnqsncdnz"],["quota","a"]]}}');
INSERT INTO "decisions" VALUES(19,1700003721000,'Evict','dlc-4qgv8kxnv1','vision','a','SelfLevelOwn','{"type":"Evict","job":"dlc-4qgv8kxnv1","run":1,"kind":"core","replicas":[0],"preemptor":"dlc-tbnqsncdnz","cost":3761000000,"lost_work":3761000000,"grace_ms":60000,"requeued":true,"counts":true,"reason":{"code":"SelfLevelOwn","facts":[["preemptor","dlc-tbnqsncdnz"],["quota","a"]]}}');
INSERT INTO "decisions" VALUES(20,1700003721000,'Evict','dlc-556jqvt3r8','vision','a','SelfLevelOwn','{"type":"Evict","job":"dlc-556jqvt3r8","run":1,"kind":"core","replicas":[0],"preemptor":"dlc-tbnqsncdnz","cost":3761000000,"lost_work":3761000000,"grace_ms":60000,"requeued":true,"counts":true,"reason":{"code":"SelfLevelOwn","facts":[["preemptor","dlc-tbnqsncdnz"],["quota","a"]]}}');
INSERT INTO "decisions" VALUES(21,1700003721000,'Evict','dlc-6927e3nbff','vision','a','SelfLevelOwn','{"type":"Evict","job":"dlc-6927e3nbff","run":1,"kind":"core","replicas":[0],"preemptor":"dlc-tbnqsncdnz","cost":3761000000,"lost_work":3761000000,"grace_ms":60000,"requeued":true,"counts":true,"reason":{"code":"SelfLevelOwn","facts":[["preemptor","dlc-tbnqsncdnz"],["quota","a"]]}}');
INSERT INTO "decisions" VALUES(22,1700003721000,'Hold','dlc-tbnqsncdnz','vision','a','AfterPreemption','{"type":"Hold","job":"dlc-tbnqsncdnz","replicas":[{"replica":0,"node":"n0","devices":[1,4,5,7]}],"waiting_on":["dlc-1haegq9t0q","dlc-4qgv8kxnv1","dlc-556jqvt3r8","dlc-6927e3nbff"],"expires_ms":1700003841000,"step":"OWN","reason":{"code":"AfterPreemption","facts":[["victims","4"],["rule","own quota"],["highest","1"],["cost","15044"]]},"preemption":{"preemptor":"dlc-tbnqsncdnz","step":"OWN","victims":[{"job":"dlc-1haegq9t0q","kind":"core","replicas":[0],"quota":"a","priority":1,"lost_work":3761000000,"cost":3761000000,"freed":{"gpu_milli":1000}},{"job":"dlc-4qgv8kxnv1","kind":"core","replicas":[0],"quota":"a","priority":1,"lost_work":3761000000,"cost":3761000000,"freed":{"gpu_milli":1000}},{"job":"dlc-556jqvt3r8","kind":"core","replicas":[0],"quota":"a","priority":1,"lost_work":3761000000,"cost":3761000000,"freed":{"gpu_milli":1000}},{"job":"dlc-6927e3nbff","kind":"core","replicas":[0],"quota":"a","priority":1,"lost_work":3761000000,"cost":3761000000,"freed":{"gpu_milli":1000}}],"demoted":[],"cost":15044000000,"cost_without_ladder":15044000000,"highest_priority":1,"tried":[{"step":"FREE","reason":{"code":"OwnQuotaFull","facts":[["quota","a"],["free","0 GPU"],["min","8 GPU"],["wanted","4 GPU"]]}}]}}');
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
INSERT INTO "events" VALUES(1,1700000000000,'node.joined',NULL,NULL,NULL,'{"node":"n0","pool":"p","model":"GPU","gpus":8}');
INSERT INTO "events" VALUES(2,1700000000000,'node.joined',NULL,NULL,NULL,'{"node":"n1","pool":"p","model":"GPU","gpus":8}');
INSERT INTO "events" VALUES(3,1700000000000,'quota.created',NULL,'team',NULL,'{"quota":"team","by":"root","parent":null,"min":[16000,null,null]}');
INSERT INTO "events" VALUES(4,1700000000000,'quota.created',NULL,'a',NULL,'{"quota":"a","by":"root","parent":"team","min":[8000,null,null]}');
INSERT INTO "events" VALUES(5,1700000000000,'quota.created',NULL,'b',NULL,'{"quota":"b","by":"root","parent":"team","min":[8000,null,null]}');
INSERT INTO "events" VALUES(6,1700000000000,'workspace.created','vision',NULL,NULL,'{"owners":["root"]}');
INSERT INTO "events" VALUES(7,1700000000000,'workspace.member_added','vision',NULL,NULL,'{"user":"ann","role":"developer"}');
INSERT INTO "events" VALUES(8,1700000000000,'workspace.member_added','vision',NULL,NULL,'{"user":"pat","role":"operator"}');
INSERT INTO "events" VALUES(9,1700000000000,'workspace.bound','vision',NULL,NULL,'{"quota":"team"}');
INSERT INTO "events" VALUES(10,1700000000000,'workspace.bound','vision',NULL,NULL,'{"quota":"a"}');
INSERT INTO "events" VALUES(11,1700000000000,'workspace.bound','vision',NULL,NULL,'{"quota":"b"}');
INSERT INTO "events" VALUES(12,1700000000000,'quota.updated',NULL,'a',NULL,'{"quota":"a","by":"root","changed":["self_level","child_level"],"changes":[{"what":"self_level","before":"none","after":"6-9 over 1-5 DLC,DSW,EAS in own"},{"what":"child_level","before":"none","after":"1-5 DLC,DSW,EAS"}]}');
INSERT INTO "events" VALUES(13,1700000000000,'job.submitted','vision','a','dlc-e01f4vw3ne','{"name":"low-0","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(14,1700000000000,'job.started','vision','a','dlc-e01f4vw3ne','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(15,1700000000000,'job.submitted','vision','a','dlc-556jqvt3r8','{"name":"low-1","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(16,1700000000000,'job.started','vision','a','dlc-556jqvt3r8','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(17,1700000000000,'job.submitted','vision','a','dlc-zp9h5mr5f0','{"name":"low-2","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(18,1700000000000,'job.started','vision','a','dlc-zp9h5mr5f0','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(19,1700000000000,'job.submitted','vision','a','dlc-heyc8wmv7b','{"name":"low-3","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(20,1700000000000,'job.started','vision','a','dlc-heyc8wmv7b','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(21,1700000000000,'job.submitted','vision','a','dlc-4qgv8kxnv1','{"name":"low-4","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(22,1700000000000,'job.started','vision','a','dlc-4qgv8kxnv1','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(23,1700000000000,'job.submitted','vision','a','dlc-1haegq9t0q','{"name":"low-5","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(24,1700000000000,'job.started','vision','a','dlc-1haegq9t0q','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(25,1700000000000,'job.submitted','vision','a','dlc-w2v7a5ptqt','{"name":"low-6","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(26,1700000000000,'job.started','vision','a','dlc-w2v7a5ptqt','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(27,1700000000000,'job.submitted','vision','a','dlc-6927e3nbff','{"name":"low-7","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(28,1700000000000,'job.started','vision','a','dlc-6927e3nbff','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(29,1700000000000,'job.submitted','vision','b','dlc-54h6qvvg43','{"name":"other-0","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(30,1700000000000,'job.started','vision','b','dlc-54h6qvvg43','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(31,1700000000000,'job.submitted','vision','b','dlc-bt1a0pmrxw','{"name":"other-1","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(32,1700000000000,'job.started','vision','b','dlc-bt1a0pmrxw','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(33,1700000000000,'job.submitted','vision','b','dlc-ddpt1769b6','{"name":"other-2","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(34,1700000000000,'job.started','vision','b','dlc-ddpt1769b6','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(35,1700000000000,'job.submitted','vision','b','dlc-tgr84rvsnk','{"name":"other-3","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(36,1700000000000,'job.started','vision','b','dlc-tgr84rvsnk','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(37,1700000000000,'job.submitted','vision','b','dlc-ggxves5znx','{"name":"other-4","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(38,1700000000000,'job.started','vision','b','dlc-ggxves5znx','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(39,1700000000000,'job.submitted','vision','b','dlc-m91c14257n','{"name":"other-5","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(40,1700000000000,'job.started','vision','b','dlc-m91c14257n','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(41,1700000000000,'job.submitted','vision','b','dlc-t7nbsf8b6g','{"name":"other-6","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(42,1700000000000,'job.started','vision','b','dlc-t7nbsf8b6g','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(43,1700000000000,'job.submitted','vision','b','dlc-9npt0w4059','{"name":"other-7","priority":1,"module":"DLC"}');
INSERT INTO "events" VALUES(44,1700000000000,'job.started','vision','b','dlc-9npt0w4059','{"reason":"FitsFree","run":1,"claim":"regular","step":"FREE","surplus":false}');
INSERT INTO "events" VALUES(45,1700000000000,'job.submitted','vision','b','dlc-qjhn456dz7','{"name":"guarded","priority":3,"module":"DLC"}');
INSERT INTO "events" VALUES(46,1700003601000,'job.promised','vision','b','dlc-qjhn456dz7','{"reason":"StarvationGuard","waiting_on":0,"expires_ms":null}');
INSERT INTO "events" VALUES(47,1700003721000,'job.submitted','vision','a','dlc-tbnqsncdnz','{"name":"taker","priority":7,"module":"DLC"}');
INSERT INTO "events" VALUES(48,1700003721000,'job.evicted','vision','a','dlc-1haegq9t0q','{"reason":"SelfLevelOwn","run":1,"what":"core","grace_ms":60000,"lost_gpu_seconds":3761.0,"requeued":true,"counts":true,"moved":false}');
INSERT INTO "events" VALUES(49,1700003721000,'job.evicted','vision','a','dlc-4qgv8kxnv1','{"reason":"SelfLevelOwn","run":1,"what":"core","grace_ms":60000,"lost_gpu_seconds":3761.0,"requeued":true,"counts":true,"moved":false}');
INSERT INTO "events" VALUES(50,1700003721000,'job.evicted','vision','a','dlc-556jqvt3r8','{"reason":"SelfLevelOwn","run":1,"what":"core","grace_ms":60000,"lost_gpu_seconds":3761.0,"requeued":true,"counts":true,"moved":false}');
INSERT INTO "events" VALUES(51,1700003721000,'job.evicted','vision','a','dlc-6927e3nbff','{"reason":"SelfLevelOwn","run":1,"what":"core","grace_ms":60000,"lost_gpu_seconds":3761.0,"requeued":true,"counts":true,"moved":false}');
INSERT INTO "events" VALUES(52,1700003721000,'job.promised','vision','a','dlc-tbnqsncdnz','{"reason":"AfterPreemption","waiting_on":4,"expires_ms":1700003841000}');
CREATE TABLE idempotency (
	actor TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	status INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	at_ms INTEGER NOT NULL, 
	CONSTRAINT pk_idempotency PRIMARY KEY (actor, "key")
);
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
INSERT INTO "jobs" VALUES('dlc-e01f4vw3ne','vision','a','ann','low-0','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-e01f4vw3ne","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":60000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n0","devices":[0]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":40},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-556jqvt3r8','vision','a','ann','low-1','DLC',1,'Waiting',1700000000000,1700000000000,1700000000000,NULL,1000,1,'SelfLevelOwn',1,'{"spec":{"id":"dlc-556jqvt3r8","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":60000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Waiting","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700003721000,"run":1,"started_ms":1700000000000,"leaving":[{"replica":0,"node":"n0","devices":[1]}],"preempted_ms":[1700003721000],"preempted_by":"dlc-tbnqsncdnz","lost_last":3761000000,"reason":"SelfLevelOwn","story":["1700000000000 submitted","1700000000000 Running: FitsFree","1700003721000 Waiting: SelfLevelOwn"]}','{"program":{"leaves_after":40},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700003721000);
INSERT INTO "jobs" VALUES('dlc-zp9h5mr5f0','vision','a','ann','low-2','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-zp9h5mr5f0","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":60000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n0","devices":[2]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":40},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-heyc8wmv7b','vision','a','ann','low-3','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-heyc8wmv7b","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":60000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n0","devices":[3]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":40},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-4qgv8kxnv1','vision','a','ann','low-4','DLC',1,'Waiting',1700000000000,1700000000000,1700000000000,NULL,1000,1,'SelfLevelOwn',1,'{"spec":{"id":"dlc-4qgv8kxnv1","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":60000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Waiting","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700003721000,"run":1,"started_ms":1700000000000,"leaving":[{"replica":0,"node":"n0","devices":[4]}],"preempted_ms":[1700003721000],"preempted_by":"dlc-tbnqsncdnz","lost_last":3761000000,"reason":"SelfLevelOwn","story":["1700000000000 submitted","1700000000000 Running: FitsFree","1700003721000 Waiting: SelfLevelOwn"]}','{"program":{"leaves_after":40},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700003721000);
INSERT INTO "jobs" VALUES('dlc-1haegq9t0q','vision','a','ann','low-5','DLC',1,'Waiting',1700000000000,1700000000000,1700000000000,NULL,1000,1,'OwnQuotaFull',1,'{"spec":{"id":"dlc-1haegq9t0q","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":60000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Waiting","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700003721000,"run":1,"started_ms":1700000000000,"leaving":[{"replica":0,"node":"n0","devices":[5]}],"preempted_ms":[1700003721000],"preempted_by":"dlc-tbnqsncdnz","lost_last":3761000000,"reason":"SelfLevelOwn","told":{"code":"OwnQuotaFull","facts":[["quota","a"],["free","0 GPU"],["min","8 GPU"],["wanted","1 GPU"]]},"story":["1700000000000 submitted","1700000000000 Running: FitsFree","1700003721000 Waiting: SelfLevelOwn"]}','{"program":{"leaves_after":40},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700003721000);
INSERT INTO "jobs" VALUES('dlc-w2v7a5ptqt','vision','a','ann','low-6','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-w2v7a5ptqt","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":60000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n0","devices":[6]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":40},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-6927e3nbff','vision','a','ann','low-7','DLC',1,'Waiting',1700000000000,1700000000000,1700000000000,NULL,1000,1,'SelfLevelOwn',1,'{"spec":{"id":"dlc-6927e3nbff","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":60000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Waiting","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700003721000,"run":1,"started_ms":1700000000000,"leaving":[{"replica":0,"node":"n0","devices":[7]}],"preempted_ms":[1700003721000],"preempted_by":"dlc-tbnqsncdnz","lost_last":3761000000,"reason":"SelfLevelOwn","story":["1700000000000 submitted","1700000000000 Running: FitsFree","1700003721000 Waiting: SelfLevelOwn"]}','{"program":{"leaves_after":40},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700003721000);
INSERT INTO "jobs" VALUES('dlc-54h6qvvg43','vision','b','ann','other-0','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-54h6qvvg43","quota":"b","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n1","devices":[0]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":0},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-bt1a0pmrxw','vision','b','ann','other-1','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-bt1a0pmrxw","quota":"b","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n1","devices":[1]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":0},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-ddpt1769b6','vision','b','ann','other-2','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-ddpt1769b6","quota":"b","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n1","devices":[2]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":0},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-tgr84rvsnk','vision','b','ann','other-3','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-tgr84rvsnk","quota":"b","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n1","devices":[3]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":0},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-ggxves5znx','vision','b','ann','other-4','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-ggxves5znx","quota":"b","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n1","devices":[4]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":0},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-m91c14257n','vision','b','ann','other-5','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-m91c14257n","quota":"b","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n1","devices":[5]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":0},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-t7nbsf8b6g','vision','b','ann','other-6','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-t7nbsf8b6g","quota":"b","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n1","devices":[6]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":0},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-9npt0w4059','vision','b','ann','other-7','DLC',1,'Running',1700000000000,1700000000000,1700000000000,NULL,1000,1,'FitsFree',1,'{"spec":{"id":"dlc-9npt0w4059","quota":"b","groups":[{"replicas":1,"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":1,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Running","claim":"regular","priority":1,"core_replicas":1,"queued_ms":1700000000000,"run":1,"started_ms":1700000000000,"core":{"started_ms":1700000000000,"places":[{"replica":0,"node":"n1","devices":[7]}]},"reason":"FitsFree","story":["1700000000000 submitted","1700000000000 Running: FitsFree"]}','{"program":{"leaves_after":0},"on_hold":false,"confirmed":[0],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-qjhn456dz7','vision','b','ann','guarded','DLC',3,'Waiting',1700000000000,NULL,NULL,NULL,8000,0,'OwnQuotaFull',1,'{"spec":{"id":"dlc-qjhn456dz7","quota":"b","groups":[{"replicas":1,"shape":{"gpu_milli":8000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700000000000,"module":"DLC","priority":3,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Waiting","claim":"regular","priority":3,"core_replicas":1,"queued_ms":1700000000000,"told":{"code":"OwnQuotaFull","facts":[["quota","b"],["free","0 GPU"],["min","8 GPU"],["wanted","8 GPU"]]},"story":["1700000000000 submitted"]}','{"program":{"leaves_after":0},"on_hold":false,"confirmed":[],"late_ms":null,"restart_key":""}',1700000000000);
INSERT INTO "jobs" VALUES('dlc-tbnqsncdnz','vision','a','ann','taker','DLC',7,'Held',1700003721000,NULL,NULL,NULL,4000,0,'AfterPreemption',1,'{"spec":{"id":"dlc-tbnqsncdnz","quota":"a","groups":[{"replicas":1,"shape":{"gpu_milli":4000,"cpu_milli":0,"memory_mib":0},"name":"worker"}],"submitted_ms":1700003721000,"module":"DLC","priority":7,"workspace":"vision","idle":"never","grace_ms":30000,"subjects":["vision/user:ann","vision/role:developer"]},"phase":"Held","claim":"regular","priority":7,"core_replicas":1,"queued_ms":1700003721000,"hold":{"places":{"started_ms":1700003721000,"places":[{"replica":0,"node":"n0","devices":[1,4,5,7]}]},"waiting_on":["dlc-1haegq9t0q","dlc-4qgv8kxnv1","dlc-556jqvt3r8","dlc-6927e3nbff"],"expires_ms":1700003841000},"reason":"AfterPreemption","story":["1700003721000 submitted","1700003721000 Held: AfterPreemption"]}','{"program":{"leaves_after":0,"seconds":600},"on_hold":false,"confirmed":[],"late_ms":null,"restart_key":""}',1700003721000);
CREATE TABLE lease (
	id INTEGER NOT NULL, 
	holder TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	until_ms INTEGER NOT NULL, 
	batch INTEGER NOT NULL, 
	CONSTRAINT pk_lease PRIMARY KEY (id)
);
INSERT INTO "lease" VALUES(1,'',1,0,38);
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
INSERT INTO "losses" VALUES(1,0,1700003721000,3761000000,1,'guaranteed','vision','a','ann','DLC','vision','a');
INSERT INTO "losses" VALUES(1,1,1700003721000,3761000000,1,'guaranteed','vision','a','ann','DLC','vision','a');
INSERT INTO "losses" VALUES(1,2,1700003721000,3761000000,1,'guaranteed','vision','a','ann','DLC','vision','a');
INSERT INTO "losses" VALUES(1,3,1700003721000,3761000000,1,'guaranteed','vision','a','ann','DLC','vision','a');
CREATE TABLE members (
	workspace TEXT NOT NULL, 
	user_name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	CONSTRAINT pk_members PRIMARY KEY (workspace, user_name, role), 
	CONSTRAINT fk_members_user_name FOREIGN KEY(user_name) REFERENCES users (name), 
	CONSTRAINT fk_members_workspace FOREIGN KEY(workspace) REFERENCES workspaces (id)
);
INSERT INTO "members" VALUES('vision','ann','developer');
INSERT INTO "members" VALUES('vision','pat','operator');
INSERT INTO "members" VALUES('vision','root','owner');
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
INSERT INTO "nodes" VALUES('n0','p','Ready','{"index":0,"spec":{"name":"n0","pool":"p","model":"GPU","gpus":8,"cpu_milli":128000,"memory_mib":1048576},"state":"Ready"}',1,1700000000000,1700000000000);
INSERT INTO "nodes" VALUES('n1','p','Ready','{"index":1,"spec":{"name":"n1","pool":"p","model":"GPU","gpus":8,"cpu_milli":128000,"memory_mib":1048576},"state":"Ready"}',1,1700000000000,1700000000000);
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
INSERT INTO "placements" VALUES('dlc-1haegq9t0q',1,0,1700000000000,'n0','[5]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-4qgv8kxnv1',1,0,1700000000000,'n0','[4]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-54h6qvvg43',1,0,1700000000000,'n1','[0]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-556jqvt3r8',1,0,1700000000000,'n0','[1]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-6927e3nbff',1,0,1700000000000,'n0','[7]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-9npt0w4059',1,0,1700000000000,'n1','[7]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-bt1a0pmrxw',1,0,1700000000000,'n1','[1]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-ddpt1769b6',1,0,1700000000000,'n1','[2]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-e01f4vw3ne',1,0,1700000000000,'n0','[0]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-ggxves5znx',1,0,1700000000000,'n1','[4]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-heyc8wmv7b',1,0,1700000000000,'n0','[3]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-m91c14257n',1,0,1700000000000,'n1','[5]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-t7nbsf8b6g',1,0,1700000000000,'n1','[6]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-tgr84rvsnk',1,0,1700000000000,'n1','[3]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-w2v7a5ptqt',1,0,1700000000000,'n0','[6]',1000,NULL);
INSERT INTO "placements" VALUES('dlc-zp9h5mr5f0',1,0,1700000000000,'n0','[2]',1000,NULL);
CREATE TABLE pools (
	name TEXT NOT NULL, 
	record TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	created_ms INTEGER NOT NULL, 
	updated_ms INTEGER NOT NULL, 
	CONSTRAINT pk_pools PRIMARY KEY (name)
);
INSERT INTO "pools" VALUES('p','{"name":"p","mixed":false,"asked":[{"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"replicas":16},{"shape":{"gpu_milli":4000,"cpu_milli":0,"memory_mib":0},"replicas":1},{"shape":{"gpu_milli":8000,"cpu_milli":0,"memory_mib":0},"replicas":1}],"pictured":[{"shape":{"gpu_milli":1000,"cpu_milli":0,"memory_mib":0},"replicas":16}]}',1,1700000000000,1700003721000);
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
INSERT INTO "preemption_victims" VALUES(1,0,'dlc-1haegq9t0q','vision','a',1,1000,3761000000,3761000000);
INSERT INTO "preemption_victims" VALUES(1,1,'dlc-4qgv8kxnv1','vision','a',1,1000,3761000000,3761000000);
INSERT INTO "preemption_victims" VALUES(1,2,'dlc-556jqvt3r8','vision','a',1,1000,3761000000,3761000000);
INSERT INTO "preemption_victims" VALUES(1,3,'dlc-6927e3nbff','vision','a',1,1000,3761000000,3761000000);
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
INSERT INTO "preemptions" VALUES(1,1700003721000,'dlc-tbnqsncdnz','vision','a','OWN',15044000000,'{"preemptor":"dlc-tbnqsncdnz","step":"OWN","victims":[{"job":"dlc-1haegq9t0q","kind":"core","replicas":[0],"quota":"a","priority":1,"lost_work":3761000000,"cost":3761000000,"freed":{"gpu_milli":1000}},{"job":"dlc-4qgv8kxnv1","kind":"core","replicas":[0],"quota":"a","priority":1,"lost_work":3761000000,"cost":3761000000,"freed":{"gpu_milli":1000}},{"job":"dlc-556jqvt3r8","kind":"core","replicas":[0],"quota":"a","priority":1,"lost_work":3761000000,"cost":3761000000,"freed":{"gpu_milli":1000}},{"job":"dlc-6927e3nbff","kind":"core","replicas":[0],"quota":"a","priority":1,"lost_work":3761000000,"cost":3761000000,"freed":{"gpu_milli":1000}}],"demoted":[],"cost":15044000000,"cost_without_ladder":15044000000,"highest_priority":1,"tried":[{"step":"FREE","reason":{"code":"OwnQuotaFull","facts":[["quota","a"],["free","0 GPU"],["min","8 GPU"],["wanted","4 GPU"]]}}]}');
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
INSERT INTO "quotas" VALUES('team',NULL,'{"order":1,"spec":{"id":"team","min":{},"draws":[["p",{"gpu_milli":16000}]],"reserved":{},"strategy":"intelligent","lending":true},"min":{"gpu_milli":16000},"actual":{"gpu_milli":16000},"shadow":{"gpu_milli":8000},"guard":"dlc-qjhn456dz7","guard_nodes":["n0"]}',1,1700000000000,1700003601000);
INSERT INTO "quotas" VALUES('a','team','{"order":2,"spec":{"id":"a","parent":"team","min":{"gpu_milli":8000},"reserved":{},"strategy":"intelligent","self_level":{"high":{"low":6,"high":9},"low":{"low":1,"high":5},"modules":["DLC","DSW","EAS"],"scope":"own"},"child_level":{"priorities":{"low":1,"high":5},"modules":["DLC","DSW","EAS"]},"lending":true},"min":{"gpu_milli":8000},"actual":{"gpu_milli":8000},"shadow":{}}',2,1700000000000,1700000000000);
INSERT INTO "quotas" VALUES('b','team','{"order":3,"spec":{"id":"b","parent":"team","min":{"gpu_milli":8000},"reserved":{},"strategy":"intelligent","lending":true},"min":{"gpu_milli":8000},"actual":{"gpu_milli":8000},"shadow":{"gpu_milli":8000}}',1,1700000000000,1700003601000);
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
INSERT INTO "runs" VALUES('dlc-1haegq9t0q',1,'regular',1700000000000,1700000000000,NULL,'evicted','SelfLevelOwn');
INSERT INTO "runs" VALUES('dlc-4qgv8kxnv1',1,'regular',1700000000000,1700000000000,NULL,'evicted','SelfLevelOwn');
INSERT INTO "runs" VALUES('dlc-54h6qvvg43',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-556jqvt3r8',1,'regular',1700000000000,1700000000000,NULL,'evicted','SelfLevelOwn');
INSERT INTO "runs" VALUES('dlc-6927e3nbff',1,'regular',1700000000000,1700000000000,NULL,'evicted','SelfLevelOwn');
INSERT INTO "runs" VALUES('dlc-9npt0w4059',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-bt1a0pmrxw',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-ddpt1769b6',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-e01f4vw3ne',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-ggxves5znx',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-heyc8wmv7b',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-m91c14257n',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-t7nbsf8b6g',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-tgr84rvsnk',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-w2v7a5ptqt',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
INSERT INTO "runs" VALUES('dlc-zp9h5mr5f0',1,'regular',1700000000000,1700000000000,NULL,NULL,'');
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
INSERT INTO "usage" VALUES('dlc-e01f4vw3ne',1,'guaranteed',1700000000000,NULL,1000,1,'vision','a','ann','DLC');
INSERT INTO "usage" VALUES('dlc-556jqvt3r8',1,'guaranteed',1700000000000,NULL,1000,1,'vision','a','ann','DLC');
INSERT INTO "usage" VALUES('dlc-zp9h5mr5f0',1,'guaranteed',1700000000000,NULL,1000,1,'vision','a','ann','DLC');
INSERT INTO "usage" VALUES('dlc-heyc8wmv7b',1,'guaranteed',1700000000000,NULL,1000,1,'vision','a','ann','DLC');
INSERT INTO "usage" VALUES('dlc-4qgv8kxnv1',1,'guaranteed',1700000000000,NULL,1000,1,'vision','a','ann','DLC');
INSERT INTO "usage" VALUES('dlc-1haegq9t0q',1,'guaranteed',1700000000000,NULL,1000,1,'vision','a','ann','DLC');
INSERT INTO "usage" VALUES('dlc-w2v7a5ptqt',1,'guaranteed',1700000000000,NULL,1000,1,'vision','a','ann','DLC');
INSERT INTO "usage" VALUES('dlc-6927e3nbff',1,'guaranteed',1700000000000,NULL,1000,1,'vision','a','ann','DLC');
INSERT INTO "usage" VALUES('dlc-54h6qvvg43',1,'guaranteed',1700000000000,NULL,1000,1,'vision','b','ann','DLC');
INSERT INTO "usage" VALUES('dlc-bt1a0pmrxw',1,'guaranteed',1700000000000,NULL,1000,1,'vision','b','ann','DLC');
INSERT INTO "usage" VALUES('dlc-ddpt1769b6',1,'guaranteed',1700000000000,NULL,1000,1,'vision','b','ann','DLC');
INSERT INTO "usage" VALUES('dlc-tgr84rvsnk',1,'guaranteed',1700000000000,NULL,1000,1,'vision','b','ann','DLC');
INSERT INTO "usage" VALUES('dlc-ggxves5znx',1,'guaranteed',1700000000000,NULL,1000,1,'vision','b','ann','DLC');
INSERT INTO "usage" VALUES('dlc-m91c14257n',1,'guaranteed',1700000000000,NULL,1000,1,'vision','b','ann','DLC');
INSERT INTO "usage" VALUES('dlc-t7nbsf8b6g',1,'guaranteed',1700000000000,NULL,1000,1,'vision','b','ann','DLC');
INSERT INTO "usage" VALUES('dlc-9npt0w4059',1,'guaranteed',1700000000000,NULL,1000,1,'vision','b','ann','DLC');
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
INSERT INTO "users" VALUES('root','','',1,0,NULL,NULL,1,1700000000000,1700000000000);
INSERT INTO "users" VALUES('ann','','',0,0,NULL,NULL,1,1700000000000,1700000000000);
INSERT INTO "users" VALUES('pat','','',0,0,NULL,NULL,1,1700000000000,1700000000000);
INSERT INTO "users" VALUES('out','','',0,0,NULL,NULL,1,1700000000000,1700000000000);
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
INSERT INTO "workspaces" VALUES('vision','',6,1700000000000,1700000000000);
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
