/** Events for people who watch for attacks. The names never change: others build rules on them. */
export const SECURITY_KINDS = [
  /** A key that does not exist, was revoked, or was mistyped. */
  'wrong_key',
  /** An unknown key that was not looked up, because too many wrong ones came from the same address. */
  'wrong_key_throttled',
  'expired_key',
  /** A valid key asked for a model that it may not use. */
  'model_not_allowed',
  /** A valid key was used for a kind of request that it does not allow. */
  'scope_not_allowed',
  /** A valid key was used from an address that it does not allow. */
  'address_not_allowed',
  /** A link to an image that was changed, guessed or is too old. */
  'wrong_link',
  'missing_admin_token',
  'wrong_admin_token',
  'wrong_admin_token_throttled',
  /** The control API was used with a valid token, to read or to change. */
  'admin_request',
] as const

export type SecurityKind = (typeof SECURITY_KINDS)[number]

const KINDS_AT_GATEWAY: ReadonlyMap<string, SecurityKind> = new Map([
  ['invalid_api_key', 'wrong_key'],
  ['too_many_wrong_keys', 'wrong_key_throttled'],
  ['key_expired', 'expired_key'],
  ['model_not_allowed', 'model_not_allowed'],
  ['scope_not_allowed', 'scope_not_allowed'],
  ['address_not_allowed', 'address_not_allowed'],
  ['asset_link_invalid', 'wrong_link'],
])

const KINDS_AT_CONTROL: ReadonlyMap<string, SecurityKind> = new Map([
  ['missing_api_key', 'missing_admin_token'],
  ['invalid_api_key', 'wrong_admin_token'],
  ['too_many_wrong_keys', 'wrong_admin_token_throttled'],
])

/** By the code of the fault. Undefined: not a security event. */
export function kindAtGateway(fault: string): SecurityKind | undefined {
  return KINDS_AT_GATEWAY.get(fault)
}

export function kindAtControl(fault: string): SecurityKind | undefined {
  return KINDS_AT_CONTROL.get(fault)
}
