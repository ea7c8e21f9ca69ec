/** Sign-on by an identity provider (OpenID Connect). */

/** What this install is to the provider. */
export interface SignOnSettings {
  readonly issuer: string
  readonly clientId: string
  /** Undefined: a public client. */
  readonly clientSecret: string | undefined
}

/** What must be remembered between the way to the provider and the way back. */
export interface SignOnTrip {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** Could not be asked, or what it said can't be trusted. The message says which. */
export class IdentityProviderFailed extends Error {
  override readonly name = 'IdentityProviderFailed'
}
