{{- define "bowerbird.labels" -}}
app.kubernetes.io/name: bowerbird
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "bowerbird.selector" -}}
app.kubernetes.io/name: bowerbird
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "bowerbird.image" -}}
image: {{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}

{{- define "bowerbird.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "bowerbird.container" -}}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities:
    drop: [ALL]
{{- end -}}

{{- define "bowerbird.database" -}}
- name: BOWERBIRD_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.existingSecret }}
      key: database-url
{{- end -}}

{{- define "bowerbird.settings" -}}
- name: BOWERBIRD_BASE_URL
  value: {{ .Values.baseUrl | quote }}
- name: BOWERBIRD_SOURCES_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.existingSecret }}
      key: sources-key
- name: BOWERBIRD_FILES_URL
  value: {{ .Values.files.url | quote }}
- name: BOWERBIRD_FILES_S3_REGION
  value: {{ .Values.files.region | quote }}
{{- with .Values.files.endpoint }}
- name: BOWERBIRD_FILES_S3_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with .Values.files.keyId }}
- name: BOWERBIRD_FILES_S3_KEY_ID
  value: {{ . | quote }}
{{- end }}
{{- if .Values.files.keyId }}
- name: BOWERBIRD_FILES_S3_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ .Values.existingSecret }}
      key: s3-secret
{{- end }}
- name: BOWERBIRD_TRUSTED_PROXIES
  value: {{ .Values.trustedProxies | quote }}
{{- if .Values.metrics.enabled }}
- name: BOWERBIRD_ADMIN_HOST
  value: 0.0.0.0
- name: BOWERBIRD_ADMIN_PORT
  value: "8081"
{{- end }}
{{- with .Values.tracesSecret }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: otlp-headers
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "bowerbird.scraping" -}}
prometheus.io/scrape: "true"
prometheus.io/port: "8081"
prometheus.io/path: /metrics
{{- end -}}
