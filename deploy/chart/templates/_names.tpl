{{- define "quotatree.name" -}}
{{- if contains "quotatree" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-quotatree" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "quotatree.selector" -}}
app.kubernetes.io/name: quotatree
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "quotatree.labels" -}}
{{ include "quotatree.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: server
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "quotatree.account" -}}
{{- .Values.serviceAccount.name | default (include "quotatree.name" .) -}}
{{- end }}

{{- define "quotatree.checked" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.database.existingSecret) }}
{{- fail "replicas is more than 1, and several servers need PostgreSQL: set database.existingSecret, or replicas=1 for SQLite on a volume" }}
{{- end }}
{{- end }}
