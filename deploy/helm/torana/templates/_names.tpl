{{- define "torana.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "torana.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains (include "torana.name" .) .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "torana.name" .) | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "torana.selector" -}}
app.kubernetes.io/name: {{ include "torana.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Pods of one role: `gateway` are those with the public API, which do everything unless roles are separate. */}}
{{- define "torana.selectorOf" -}}
{{ include "torana.selector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* The label that Kubernetes gives to pods of a StatefulSet adds eleven letters to this name, and may have 63. */}}
{{- define "torana.nameOf" -}}
{{- $fullname := include "torana.fullname" .root }}
{{- if eq .component "gateway" }}{{ $fullname }}{{ else }}{{ printf "%s-%s" ($fullname | trunc 44 | trimSuffix "-") .component }}{{ end }}
{{- end }}

{{- define "torana.labels" -}}
{{ include "torana.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "torana.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "torana.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "torana.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "torana.configMap" -}}
{{- if .Values.existingConfigMap }}{{ .Values.existingConfigMap }}
{{- else if .Values.config }}{{ include "torana.fullname" . }}
{{- end }}
{{- end }}

{{/* preStop, then the drain, then five seconds for what Torana does after it. Of the two drains the longer counts. */}}
{{- define "torana.graceSeconds" -}}
{{- $limits := .Values.config.limits | default dict }}
{{- $drainSeconds := divf (get $limits "drainMs" | default 0) 1000 | ceil | int }}
{{- add .Values.stop.preStopSeconds (max (int .Values.stop.drainSeconds) $drainSeconds) 5 }}
{{- end }}

{{/* What can't work is told before anything is applied. */}}
{{- define "torana.check" -}}
{{- $several := or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled }}
{{- if and $several (not (hasKey .Values.secrets "DATABASE_URL")) }}
{{- fail "Several nodes share one PostgreSQL: name its address in secrets.DATABASE_URL, or use replicas: 1 without autoscaling." }}
{{- end }}
{{- if and (hasKey .Values.secrets "DATABASE_URL") (not (hasKey .Values.secrets "TORANA_SECRET")) }}
{{- fail "With secrets.DATABASE_URL all nodes need the same TORANA_SECRET: name it in secrets.TORANA_SECRET." }}
{{- end }}
{{- if and .Values.config .Values.existingConfigMap }}
{{- fail "config and existingConfigMap are both set: use one of them." }}
{{- end }}
{{- if and .Values.autoscaling.enabled (lt (int .Values.autoscaling.maxReplicas) (int .Values.autoscaling.minReplicas)) }}
{{- fail "autoscaling.maxReplicas is less than autoscaling.minReplicas." }}
{{- end }}
{{- if and .Values.separateRoles.enabled (not (hasKey .Values.secrets "DATABASE_URL")) }}
{{- fail "Separate roles share one PostgreSQL: name its address in secrets.DATABASE_URL, or use separateRoles.enabled: false." }}
{{- end }}
{{- range $name := list "TORANA_ROLE" "TORANA_TLS_CERT" "TORANA_TLS_KEY" "TORANA_TLS_CLIENT_CA" }}
{{- if or (hasKey $.Values.env $name) (hasKey $.Values.secrets $name) }}
{{- fail (printf "%s is set by the chart: use separateRoles and tls.secretName." $name) }}
{{- end }}
{{- end }}
{{- range $container := concat .Values.extraContainers .Values.initContainers }}
{{- if eq $container.name "torana" }}
{{- fail "A container of extraContainers or initContainers is called torana, as the chart's own: give it another name." }}
{{- end }}
{{- end }}
{{- range $volume := .Values.extraVolumes }}
{{- if has $volume.name (list "data" "tmp" "config" "secrets" "tls") }}
{{- fail (printf "extraVolumes: %s is a volume of the chart: give yours another name." $volume.name) }}
{{- end }}
{{- end }}
{{- range $name, $_ := .Values.secrets }}
{{- if hasKey $.Values.env $name }}
{{- fail (printf "%s stands in secrets and in env: use one of them." $name) }}
{{- end }}
{{- end }}
{{- end }}
