// Package notify tells whoever runs Gleaner what happened: that harvests ended, that
// sites refused, that many matches wait for review. A [Channel] is a webhook, which is
// posted JSON that is signed by the Standard Webhooks, or a mail server.
package notify
