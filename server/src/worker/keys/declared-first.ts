import type { Key, KeyDirectory } from '#ports/keys.ts'

/** Keys of the configuration are always known. Only other secrets are looked up in the store. */
export function declaredFirst(
  declared: { readonly find: (secret: string) => Key | undefined },
  stored: KeyDirectory & { readonly declaredUsed: (keyId: string) => void },
): KeyDirectory {
  return {
    find(secret, mayAsk) {
      const key = declared.find(secret)
      if (key === undefined) return stored.find(secret, mayAsk)
      stored.declaredUsed(key.id)
      return key
    },
    endOf: (secret) => stored.endOf?.(secret),
  }
}
