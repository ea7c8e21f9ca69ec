/**
 * Envelope encryption: a data key of its own seals each secret, and a key of the node seals the data key. So a new key of the node
 * means resealing 32 bytes, not the secret. Both are bound to an owner: moved to another row, neither opens.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { CredentialLost, type SealingKey, type SealingKeys } from '#ports/credentials.ts'

export interface Envelope {
  /** Format, id of the node's key, then the sealed data key. */
  readonly sealedKey: Uint8Array
  /** Sealed by the data key. */
  readonly sealedSecret: Uint8Array
}

const ALGORITHM = 'aes-256-gcm'
const FORMAT = 1
const KEY_ID_END = 5
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function sealSecret(secret: string, owner: string, keys: SealingKeys): Envelope {
  const dataKey = randomBytes(32)
  return {
    sealedKey: sealWith(keys.current, dataKey, owner),
    sealedSecret: seal(dataKey, Buffer.from(secret), owner),
  }
}

export interface OpenedEnvelope {
  readonly secret: string
  /** The resealed data key, when the previous key of the node had sealed it. */
  readonly renewedKey: Uint8Array | undefined
}

export function openSecret(
  { sealedKey, sealedSecret }: Envelope,
  owner: string,
  { current, previous }: SealingKeys,
): OpenedEnvelope {
  const id = Buffer.from(sealedKey.subarray(1, KEY_ID_END)).toString('hex')
  const key = [current, previous].find((candidate) => candidate?.id === id)
  if (sealedKey[0] !== FORMAT || key === undefined)
    throw new CredentialLost(
      'it was sealed with a TORANA_SECRET that this node does not have: set it as TORANA_SECRET_PREVIOUS, or store the credential again',
    )
  const dataKey = open(key.key, sealedKey.subarray(KEY_ID_END), owner)
  return {
    secret: open(dataKey, sealedSecret, owner).toString(),
    renewedKey: key === current ? undefined : sealWith(current, dataKey, owner),
  }
}

/** Format and id of the key, then what it sealed. */
function sealWith({ id, key }: SealingKey, content: Uint8Array, owner: string): Buffer {
  return Buffer.concat([Buffer.of(FORMAT), Buffer.from(id, 'hex'), seal(key, content, owner)])
}

function seal(key: Uint8Array, content: Uint8Array, owner: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(
    Buffer.from(owner),
  )
  const sealed = Buffer.concat([cipher.update(content), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

function open(key: Uint8Array, sealed: Uint8Array, owner: string): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const tagEnd = NONCE_BYTES + TAG_BYTES
  try {
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(owner))
      .setAuthTag(sealed.subarray(NONCE_BYTES, tagEnd))
    return Buffer.concat([decipher.update(sealed.subarray(tagEnd)), decipher.final()])
  } catch (cause) {
    throw new CredentialLost('what is stored has been changed: store the credential again', { cause })
  }
}
