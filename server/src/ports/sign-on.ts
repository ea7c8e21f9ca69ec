/** Sign-on by an identity provider (OpenID Connect). */
import type { Claims, SignOnRule } from '#core/sign-on-rules.ts'
import type { Actor } from './audit.ts'

export interface SignOnRecord {
  /** On the button. Undefined: the host of the issuer. */
  readonly name: string | undefined
  readonly issuer: string
  readonly clientId: string
  readonly hasSecret: boolean
  readonly rules: readonly SignOnRule[]
}

export interface SignOnSettings extends Omit<SignOnRecord, 'hasSecret'> {
  readonly clientSecret: string | undefined
}

export interface SignOnChange extends Omit<SignOnRecord, 'hasSecret'> {
  /** Undefined: as before, if the issuer is as before; a secret is only ever sent to the issuer that it was stored for. */
  readonly clientSecret: string | undefined
}

/** Settings of the sign-on. The secret is sealed, and is given out only by `open`. Changes stand in the audit. */
export interface SignOnStore {
  read(): Promise<SignOnRecord | undefined>
  /** Rejects with `CredentialLost` when the secret can't be opened any more. */
  open(): Promise<SignOnSettings | undefined>
  put(change: SignOnChange, actor: Actor): Promise<SignOnRecord>
  drop(actor: Actor): Promise<void>
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

/** The other end. Rejects with `IdentityProviderFailed`. */
export interface IdentityProvider {
  /** Where the browser goes. */
  begin(
    settings: SignOnSettings,
    redirectUrl: string,
  ): Promise<{ readonly url: string; readonly trip: SignOnTrip }>
  /** `url` is the address that the browser came back to, with its query. */
  finish(settings: SignOnSettings, url: URL, trip: SignOnTrip): Promise<Claims>
}
