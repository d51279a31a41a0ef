{{/* What all pods have: nobody's rights, and no file to write but in two folders of their own. */}}
{{- define "gleaner.pod" }}
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 60
      securityContext:
        runAsNonRoot: true
        runAsUser: 10001
        runAsGroup: 10001
        fsGroup: 10001
        seccompProfile: {type: RuntimeDefault}
      volumes:
      - {name: data, emptyDir: {}}
      - {name: tmp, emptyDir: {sizeLimit: {{ .Values.worker.temporary }}}}
{{- end }}
{{- define "gleaner.container" }}
        image: {{ printf "%q" .Values.image }}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities: {drop: [ALL]}
        volumeMounts:
        - {name: data, mountPath: /var/lib/gleaner}
        - {name: tmp, mountPath: /tmp}
        envFrom:
        - secretRef: {name: {{ printf "%q" .Values.secret }}}
        env:
        - {name: GLEANER_METRICS_ADDRESS, value: "0.0.0.0:9090"}
        {{- range $name, $value := .Values.settings }}
        {{- if $value }}
        - {name: {{ $name }}, value: {{ printf "%q" $value }}}
        {{- end }}
        {{- end }}
{{- end }}
