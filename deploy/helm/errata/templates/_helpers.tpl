{{/* What selects the pods. It must never change: Kubernetes refuses the upgrade. */}}
{{- define "errata.selector" -}}
app.kubernetes.io/name: errata
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "errata.labels" -}}
{{ include "errata.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* "true" for more than one node, else empty. */}}
{{- define "errata.cluster" -}}
{{- if gt (int .Values.replicas) 1 }}true{{ end }}
{{- end }}

{{- define "errata.routes" -}}
{{ .Release.Name }}-routes
{{- end }}

{{/* The routes of all nodes, by the names that the service of the routes gives the pods. */}}
{{- define "errata.peers" -}}
{{- $peers := list }}
{{- range $i := until (int .Values.replicas) }}
{{- $peers = append $peers (printf "%s-%d.%s:6222" $.Release.Name $i (include "errata.routes" $)) }}
{{- end }}
{{- join "," $peers }}
{{- end }}

{{- define "errata.secretName" -}}
{{- .Values.cluster.existingSecret | default (printf "%s-cluster" .Release.Name) }}
{{- end }}
