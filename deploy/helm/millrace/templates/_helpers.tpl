{{- define "millrace.name" -}}
{{- if contains "millrace" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-millrace" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "millrace.selector" -}}
app.kubernetes.io/name: millrace
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "millrace.labels" -}}
{{ include "millrace.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "millrace.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "millrace.name" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* The same for all processes. */}}
{{- define "millrace.env" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.secretName }}
      key: {{ .Values.database.urlKey }}
- name: MILLRACE_SECRET_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.encryptionKey.secretName }}
      key: {{ .Values.encryptionKey.key }}
{{- with .Values.encryptionKey.previousKey }}
- name: MILLRACE_SECRET_KEY_PREVIOUS
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.encryptionKey.secretName }}
      key: {{ . }}
{{- end }}
- name: MILLRACE_PUBLIC_URL
  value: {{ .Values.publicUrl | quote }}
- name: MILLRACE_TRUST_PROXY
  value: {{ .Values.trustProxy | quote }}
# Logs are collected: `millrace setup-link` prints the link instead.
- name: MILLRACE_PRINT_FIRST_KEY
  value: "0"
- name: MILLRACE_METRICS_PORT
  value: {{ .Values.metrics.port | quote }}
{{- if .Values.metrics.enabled }}
- name: MILLRACE_METRICS_HOST
  value: "0.0.0.0"
- name: MILLRACE_METRICS_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ .Values.metrics.token.secretName }}
      key: {{ .Values.metrics.token.key }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range .Values.secretSettings }}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secretName }}
      key: {{ .key }}
{{- end }}
{{- end -}}

{{/* A worker has no other port than that of its metrics, which may need a token: so a command asks it. */}}
{{- define "millrace.workerProbe" -}}
exec:
  command:
    - node
    - -e
    - >-
      const { MILLRACE_METRICS_PORT: port, MILLRACE_METRICS_TOKEN: token = '' } = process.env;
      fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${token}` } })
      .then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))
{{- end -}}
