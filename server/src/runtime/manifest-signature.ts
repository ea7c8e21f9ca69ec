import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ManifestSigner } from '#ports/lake.ts'
import { manifestKeysOf, type NodeSecrets } from './secret.ts'

/** Signs with the current secret; signatures of the previous one are still good. */
export function manifestSigner(secrets: NodeSecrets): ManifestSigner {
  const { current, previous } = manifestKeysOf(secrets)
  const macOf = (text: string, key: Uint8Array): Buffer => createHmac('sha256', key).update(text).digest()
  return {
    sign: (text) => ({ key: current.id, hmac_sha256: macOf(text, current.key).toString('hex') }),
    verify(text, { key: id, hmac_sha256: claimed }) {
      const key = [current, previous].find((one) => one?.id === id)
      if (key === undefined) return 'other key'
      const mac = Buffer.from(claimed, 'hex')
      return mac.length === 32 && timingSafeEqual(mac, macOf(text, key.key)) ? 'good' : 'bad'
    },
  }
}
