{{- define "assay.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "assay.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "assay.labels" -}}
{{ include "assay.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "assay.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "assay.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "assay.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "assay.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Secrets that others keep under other names. */}}
{{- define "assay.secretKeys" -}}
{{- range $name, $from := .Values.secretKeys }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $from.name | quote }}, key: {{ $from.key | quote }} } }
{{- end }}
{{- end -}}

{{/* Where a process may write; the rest of its file system is read-only. */}}
{{- define "assay.mounts" -}}
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "assay.volumes" -}}
- { name: data, emptyDir: { sizeLimit: {{ .Values.volumes.dataSizeLimit }} } }
- { name: tmp, emptyDir: { sizeLimit: {{ .Values.volumes.tmpSizeLimit }} } }
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* One Deployment. Takes the root context, the component, the role and the values of the role. */}}
{{- define "assay.deployment" -}}
{{- $root := .root -}}
{{- $of := .values -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "assay.fullname" $root }}-{{ .component }}
  labels:
    {{- include "assay.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  {{- if not (and $of.autoscaling $of.autoscaling.enabled) }}
  replicas: {{ $of.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels:
      {{- include "assay.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  template:
    metadata:
      labels:
        {{- include "assay.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
      annotations:
        checksum/settings: {{ toJson (list $root.Values.publicUrl $root.Values.env $of.env $root.Values.metrics.port) | sha256sum }}
        {{- with $of.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "assay.serviceAccount" $root }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext: {{- toYaml $root.Values.podSecurityContext | nindent 8 }}
      terminationGracePeriodSeconds: {{ $of.terminationGracePeriodSeconds }}
      containers:
        - name: assay
          image: {{ include "assay.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: [start, --role, {{ .role }}]
          securityContext: {{- include "assay.containerSecurity" $root | nindent 12 }}
          ports:
            - { name: http, containerPort: 3000 }
            - { name: metrics, containerPort: {{ $root.Values.metrics.port }} }
          envFrom:
            - configMapRef: { name: {{ include "assay.fullname" $root }} }
            - secretRef: { name: {{ $root.Values.existingSecret }} }
          {{- if or $root.Values.secretKeys $of.env $of.drainSeconds }}
          env:
            {{- if $of.drainSeconds }}
            - { name: DRAIN_SECONDS, value: {{ $of.drainSeconds | quote }} }
            - { name: DRAIN_ATTEMPT_SECONDS, value: {{ $of.drainAttemptSeconds | default 0 | quote }} }
            {{- end }}
            {{- include "assay.secretKeys" $root | nindent 12 }}
            {{- range $name, $value := $of.env }}
            - { name: {{ $name }}, value: {{ $value | toString | quote }} }
            {{- end }}
          {{- end }}
          startupProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 2
            # The database may be late (DATABASE_START_WAIT_SECONDS), and migrations may run.
            failureThreshold: 150
          livenessProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          resources: {{- toYaml $of.resources | nindent 12 }}
          volumeMounts: {{- include "assay.mounts" $root | nindent 12 }}
      volumes: {{- include "assay.volumes" $root | nindent 8 }}
      {{- with $of.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $of.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $of.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- if $of.topologySpreadConstraints }}
      topologySpreadConstraints:
        {{- range $of.topologySpreadConstraints }}
        - {{- toYaml . | nindent 10 }}
          labelSelector:
            matchLabels:
              {{- include "assay.selector" $root | nindent 14 }}
              app.kubernetes.io/component: {{ $.component }}
        {{- end }}
      {{- end }}
{{- end -}}

{{- define "assay.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "assay.fullname" .root }}-{{ .component }}
  labels: {{- include "assay.labels" .root | nindent 4 }}
spec:
  maxUnavailable: {{ .values.podDisruptionBudget.maxUnavailable }}
  # A pod that is not ready anyway may go, so that a machine can be emptied while the database is away.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "assay.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
{{- end -}}
