import { createHmac, timingSafeEqual } from 'node:crypto'
import { assetKeysOf, type NodeSecrets } from './secret.ts'

/** Signs links that open one asset until a given time. The caller checks whether that time has passed. */
export interface AssetSigner {
  sign(assetId: string, expiresAtSeconds: number): string
  /** Signatures of the previous secret are still valid. A wrong one is refused in constant time. */
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
        // Compared as text: several base64 texts decode to the same bytes, and one link is enough.
        const expected = Buffer.from(signature(key, assetId, expiresAtSeconds))
        return claimed.length === expected.length && timingSafeEqual(claimed, expected)
      })
    },
  }
}

export interface AssetLinks {
  /** A link that opens the asset until then, or for as long as links usually do. */
  linkOf(assetId: string, untilMs?: number): string
  verifyLink: AssetSigner['verify']
}

export interface LinkOptions {
  readonly publicUrl: string
  /** How long a link opens its asset unless its end is given. */
  readonly lifeMs: number
  readonly nowMs: () => number
}

export function assetLinks(secrets: NodeSecrets, { publicUrl, lifeMs, nowMs }: LinkOptions): AssetLinks {
  const signer = assetSigner(secrets)
  return {
    linkOf(assetId, untilMs = nowMs() + lifeMs) {
      const expiresAtSeconds = Math.floor(untilMs / 1000)
      const signed = signer.sign(assetId, expiresAtSeconds)
      return `${publicUrl}/v1/assets/${assetId}?exp=${expiresAtSeconds}&sig=${signed}`
    },
    verifyLink: (...link) => signer.verify(...link),
  }
}

/** The number comes first and ends at the colon, so that no two pairs have the same text. */
function signature(key: Uint8Array, assetId: string, expiresAtSeconds: number): string {
  if (!Number.isSafeInteger(expiresAtSeconds)) throw new RangeError(`not a second: ${expiresAtSeconds}`)
  return createHmac('sha256', key).update(`${expiresAtSeconds}:${assetId}`).digest('base64url')
}
