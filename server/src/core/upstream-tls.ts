/** Certificates in PEM form, for servers of one's own network. */
export interface UpstreamTls {
  /** The authorities that are trusted, instead of those of the public internet. */
  readonly ca?: string | undefined
  /** What Torana shows to the upstream, with its key. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}
