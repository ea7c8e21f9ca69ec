/** Certificates in PEM form, for servers of a private network. */
export interface UpstreamTls {
  /** The trusted authorities, instead of those of the public internet. */
  readonly ca?: string | undefined
  /** The client certificate for the upstream, with its key. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}
