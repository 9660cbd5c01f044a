{{/* What the admission policies have in common: who is trusted, where they hold, and pieces of CEL. */}}

{{- define "quotatree.admits" -}}
{{- if and .Values.admissionPolicy.create (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version) }}yes{{ end -}}
{{- end }}

{{- define "quotatree.suspends" -}}
{{- if include "quotatree.admits" . }}
{{- if semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version }}v1
{{- else if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy" }}v1beta1
{{- end }}
{{- end }}
{{- end }}

{{/* Whether the request comes from the server, or from an admin who is trusted to repair what it keeps. */}}
{{- define "quotatree.cel.trusted" -}}
request.userInfo.username == 'system:serviceaccount:{{ .Release.Namespace }}:{{ include "quotatree.account" . }}'
|| {{ include "quotatree.cel.admin" . }}
{{- end }}

{{- define "quotatree.cel.admin" -}}
request.userInfo.username in {{ include "quotatree.cel.list" .Values.admissionPolicy.trustedUsers }}
|| request.userInfo.?groups.orValue([]).exists(g, g in {{ include "quotatree.cel.list" .Values.admissionPolicy.trustedGroups }})
{{- end }}

{{/* Whether the request comes from a node or from a controller of Kubernetes itself. */}}
{{- define "quotatree.cel.of-the-cluster" -}}
request.userInfo.?groups.orValue([]).exists(g, g in ['system:nodes', 'system:serviceaccounts:kube-system']) || request.userInfo.username in ['system:kube-controller-manager', 'system:kube-scheduler']
{{- end }}

{{- define "quotatree.cel.list" -}}
[{{ range $n, $one := . }}{{ if $n }}, {{ end }}'{{ $one }}'{{ end }}]
{{- end }}

{{/* Whether one of these containers asks for one of these resources; a name that ends in * is the beginning of names. */}}
{{- define "quotatree.cel.asks" -}}
{{ .containers }}.exists(c, [c.?resources.?limits.orValue({}), c.?resources.?requests.orValue({})].exists(r, r.exists(k,
({{ range $n, $name := .names }}{{ if $n }} || {{ end }}{{ if hasSuffix "*" $name }}k.startsWith('{{ trimSuffix "*" $name }}'){{ else }}k == '{{ $name }}'{{ end }}{{ else }}false{{ end }})
&& string(r[k]) != '0')))
{{- end }}

{{/* The variables of a policy that look at the pod specification `spec`. */}}
{{- define "quotatree.cel.devices" -}}
- name: containers
  expression: "{{ .spec }}.?containers.orValue([]) + {{ .spec }}.?initContainers.orValue([])"
- name: gpus
  expression: >-
    {{- include "quotatree.cel.asks" (dict "containers" "variables.containers" "names" .root.Values.admissionPolicy.gpuResources) | nindent 4 }}
    {{- printf "|| %s" (include "quotatree.cel.asks" (dict "containers" (printf "[%s]" .spec) "names" .root.Values.admissionPolicy.gpuResources)) | nindent 4 }}
- name: uncounted
  expression: >-
    {{- include "quotatree.cel.asks" (dict "containers" "variables.containers" "names" .root.Values.admissionPolicy.uncountedResources) | nindent 4 }}
    {{- if not .root.Values.admissionPolicy.resourceClaims }}
    || size({{ .spec }}.?resourceClaims.orValue([])) > 0
    {{- end }}
{{- end }}

{{/* Whether pods of the specification `.` keep pods of other namespaces off their nodes: kube-scheduler heeds that for those, too. */}}
{{- define "quotatree.cel.keeps-off" -}}
{{ . }}.?affinity.?podAntiAffinity.?requiredDuringSchedulingIgnoredDuringExecution.orValue([]).exists(t,
t.?namespaceSelector.hasValue() || t.?namespaces.orValue([]).exists(n, n != request.namespace))
{{- end }}

{{- define "quotatree.keeps-off-message" -}}
affinity.podAntiAffinity: with namespaces or namespaceSelector it keeps work of other teams off the node; leave them out, or prefer instead of require
{{- end }}

{{/* The binding of a policy: it holds in namespaces that a workspace has, by their label, and in those that the server made. */}}
{{- define "quotatree.bindings" -}}
{{- $policy := printf "%s-%s" (include "quotatree.name" .root) .name }}
{{- range $place, $selector := dict "labelled" "matchExpressions: [{key: quotatree.io/workspace, operator: Exists}]" "made" "matchLabels: {app.kubernetes.io/managed-by: quotatree}" }}
---
apiVersion: admissionregistration.k8s.io/{{ $.version | default "v1" }}
kind: {{ $.kind | default "ValidatingAdmissionPolicy" }}Binding
metadata:
  name: {{ $policy }}-{{ $place }}
  labels: {{- include "quotatree.labels" $.root | nindent 4 }}
spec:
  policyName: {{ $policy }}
  {{- if not $.kind }}
  validationActions: [Deny]
  {{- end }}
  matchResources:
    namespaceSelector:
      {{ $selector }}
{{- end }}
{{- end }}

{{/* Annotations that are not for their users to write; quotatree.io/ alone is ours, but for what a job says of itself. */}}
{{- define "quotatree.cel.ours" -}}
k.startsWith('quotatree.io/') && !(k in ['quotatree.io/module', 'quotatree.io/idle', 'quotatree.io/checkpoint', 'quotatree.io/checkpoint-interval', 'quotatree.io/max-preemptions', 'quotatree.io/requeue', 'quotatree.io/hold'])
{{- end }}

{{- define "quotatree.cel.kept" -}}
- name: notes
  expression: "object.metadata.?annotations.orValue({})"
- name: labels
  expression: "object.metadata.?labels.orValue({})"
- name: notesBefore
  expression: "oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})"
- name: labelsBefore
  expression: "oldObject == null ? {} : oldObject.metadata.?labels.orValue({})"
- name: notesKept
  expression: >-
    variables.notes.all(k, !({{ include "quotatree.cel.ours" . }}) || (k in variables.notesBefore && variables.notesBefore[k] == variables.notes[k]))
    && variables.notesBefore.all(k, !({{ include "quotatree.cel.ours" . }}) || k in variables.notes)
{{- end }}

{{/* Whether a pod template carries what the server alone puts there, and whether it carried the same before. */}}
{{- define "quotatree.cel.template" -}}
- name: mark
  expression: >-
    [{{ .template }}.?metadata.?labels[?'quotatree.io/object'].orValue(''), {{ .template }}.?metadata.?labels[?'quotatree.io/group'].orValue(''),
    {{ .template }}.spec.?schedulingGates.orValue([]).exists(g, g.name == 'quotatree.io/place') ? 'gated' : '']
- name: markBefore
  expression: >-
    oldObject == null ? ['', '', ''] :
    [{{ .before }}.?metadata.?labels[?'quotatree.io/object'].orValue(''), {{ .before }}.?metadata.?labels[?'quotatree.io/group'].orValue(''),
    {{ .before }}.spec.?schedulingGates.orValue([]).exists(g, g.name == 'quotatree.io/place') ? 'gated' : '']
- name: ours
  expression: "variables.mark != ['', '', '']"
{{- end }}

{{- define "quotatree.cel.kept-rules" -}}
- expression: "variables.notesKept"
  message: annotations quotatree.io/job, run and places are set by QuotaTree alone; leave them out
  reason: Forbidden
- expression: "variables.mark == variables.markBefore || (variables.born && variables.byController)"
  message: labels quotatree.io/object and group and the gate quotatree.io/place are put into templates by QuotaTree alone
  reason: Forbidden
{{- end }}
