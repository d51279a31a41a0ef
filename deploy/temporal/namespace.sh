#!/bin/sh
# Registers the namespace and the search attributes that Gleaner's workflows
# set. Safe to run again.
set -eu
until temporal operator cluster health; do
    echo "waiting for Temporal at $TEMPORAL_ADDRESS"
    sleep 2
done
temporal operator namespace describe -n "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
    temporal operator namespace create -n "$TEMPORAL_NAMESPACE" --retention 30d
have=$(temporal operator search-attribute list -n "$TEMPORAL_NAMESPACE")
for attribute in GleanerVenue:Keyword GleanerVenues:KeywordList GleanerHost:Keyword GleanerStage:Keyword GleanerOutcome:Keyword; do
    name=${attribute%%:*}
    case " $(echo $have) " in
    *" $name "*) ;;
    *) temporal operator search-attribute create -n "$TEMPORAL_NAMESPACE" --name "$name" --type "${attribute##*:}" ;;
    esac
done
