/** Errors of sockets, names and certificates in words for callers: Node's own messages name addresses of the installation. */

const WORDS: readonly (readonly [code: RegExp, words: string])[] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, 'connection reset'],
  [/^ENOTFOUND$/, 'its name is not known'],
  [/^(EAI_|ENODATA$|ESERVFAIL$|ETIMEOUT$)/, 'its name could not be looked up'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'no connection in time'],
  [/^(EHOSTUNREACH|EHOSTDOWN)$/, 'its host is unreachable'],
  [/^(ENETUNREACH|ENETDOWN)$/, 'its network is unreachable'],
  [/^(EMFILE|ENFILE|EADDRNOTAVAIL|ENOBUFS)$/, 'this node has no socket left'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet'],
  [/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/, 'its certificate is self-signed'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another host'],
  [/^(UNABLE_TO_|CERT_|INVALID_CA$)/, 'its certificate can not be verified'],
  [/^(EPROTO$|ERR_SSL_|ERR_TLS_)/, 'the TLS handshake failed'],
  [/^UND_ERR_SOCKET$/, 'connection closed'],
]

/** `codes`: of the error and its causes, the outermost first. The innermost that is known decides. */
export function connectionWords(codes: readonly string[]): string {
  for (const code of codes.toReversed())
    for (const [pattern, words] of WORDS) if (pattern.test(code)) return words
  return 'no connection'
}

/** An address with a port, or of a network. A version such as 1.2.3 has fewer parts, a time such as 12:30:45 fewer colons. */
const IPV4 = /(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.]*\w)/g
const IPV6 =
  /\[[\da-f:.]*:[\da-f:.]*\](?::\d{1,5})?|(?<![\w:])(?:(?:[\da-f]{1,4}:){4,7}|[\da-f:]{0,20}::)[\da-f:.]*(?![\w:])/gi
/** Names that the public DNS does not have. */
const INNER_NAME =
  /(?<![\w.-])(?:localhost(?=:)|(?:[\w-]{1,63}\.){1,8}(?:local|localdomain|internal|intranet|lan|svc|corp|home|cluster)(?![\w-]))(?:\.[\w-]{1,63}){0,4}(?::\d{1,5})?/gi
/** A URL whose host has a port, or no dot. */
const INNER_URL =
  /\b(https?|wss?|grpc|tcp):\/\/(?:[\w.-]{1,253}:\d{1,5}|[\w-]{1,63}(?![\w.-]))(?:\/[^\s"'<>)]*)?/gi
const HIDDEN = '[address]'

/** An upstream behind a proxy may quote where it runs. */
export function withoutAddresses(text: string): string {
  return text
    .replace(INNER_URL, HIDDEN)
    .replace(IPV4, HIDDEN)
    .replace(IPV6, HIDDEN)
    .replace(INNER_NAME, HIDDEN)
}
