import { createHmac, timingSafeEqual } from 'node:crypto'
import { assetKeysOf, type NodeSecrets } from './secret.ts'

/** Signs links that open one asset until a moment, for whoever has them. Whether the moment has passed is for the caller to see. */
export interface AssetSigner {
  sign(assetId: string, expiresAtSeconds: number): string
  /** What was signed with the secret before is still good. A wrong one is refused in the same time, however much of it is right. */
  verify(assetId: string, expiresAtSeconds: number, signature: string): boolean
}

export function assetSigner(secrets: NodeSecrets): AssetSigner {
  const keys = assetKeysOf(secrets)
  return {
    sign: (assetId, expiresAtSeconds) => signature(keys[0] as Uint8Array, assetId, expiresAtSeconds),
    verify(assetId, expiresAtSeconds, presented) {
      if (!Number.isSafeInteger(expiresAtSeconds)) return false
      const claimed = Buffer.from(presented)
      return keys.some((key) => {
        // As text: of base64 several texts may stand for the same bytes, and one link is enough.
        const expected = Buffer.from(signature(key, assetId, expiresAtSeconds))
        return claimed.length === expected.length && timingSafeEqual(claimed, expected)
      })
    },
  }
}

/** The number comes first and ends at the colon, so no two pairs read alike. */
function signature(key: Uint8Array, assetId: string, expiresAtSeconds: number): string {
  if (!Number.isSafeInteger(expiresAtSeconds)) throw new RangeError(`not a second: ${expiresAtSeconds}`)
  return createHmac('sha256', key).update(`${expiresAtSeconds}:${assetId}`).digest('base64url')
}
