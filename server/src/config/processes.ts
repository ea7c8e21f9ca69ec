/** The number of processes, their roles, and their certificate. */
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { NODE_ROLES, type NodeRole } from '#core/node/node-role.ts'
import type { DatabaseSettings, TlsSettings } from '#core/settings.ts'
import { anyOf, didYouMean } from './file/problem.ts'
import { readTls, tlsProblem } from './file/certificates.ts'
import type { ReadFile } from './file/variable.ts'
import type { Variables } from './given.ts'

/** More than the largest machines have cores; each takes 200 MB and 14 connections to PostgreSQL. */
const MAX_WORKERS = 256

export function roleOf(variables: Variables, database: DatabaseSettings): NodeRole {
  const value = variables.text('TORANA_ROLE')
  const role = NODE_ROLES.find((known) => known === value)
  if (role === undefined) {
    const hint = didYouMean(value, NODE_ROLES)
    variables.refuse('TORANA_ROLE', `expected ${anyOf(NODE_ROLES)}, got "${value}".${hint}`)
    return 'all'
  }
  if (role !== 'all')
    refuseUnlessShared(variables, database, 'TORANA_ROLE', `a process that is only "${role}"`)
  return role
}

export function workersOf(variables: Variables, database: DatabaseSettings): number | undefined {
  const value = variables.given('TORANA_WORKERS')
  if (value === undefined) return undefined
  const count = value === 'auto' ? availableParallelism() : Number(/^\d{1,3}$/.exec(value)?.[0])
  if (!(count >= 1 && count <= MAX_WORKERS)) {
    variables.refuse(
      'TORANA_WORKERS',
      `expected auto, or a whole number from 1 to ${MAX_WORKERS}, got "${value}"`,
    )
    return undefined
  }
  refuseUnlessShared(variables, database, 'TORANA_WORKERS', 'a node with workers')
  return count
}

/** Several processes can't share the database inside one of them. */
function refuseUnlessShared(
  variables: Variables,
  { kind }: DatabaseSettings,
  name: 'TORANA_ROLE' | 'TORANA_WORKERS',
  what: string,
): void {
  if (kind === 'postgres') return
  variables.refuse(
    name,
    `${what} needs PostgreSQL, because processes share what they know: without DATABASE_URL, the database inside (PGlite) keeps everything in one process. Set DATABASE_URL=postgres://…`,
  )
}

export function tlsOf(variables: Variables, cwd: string, readFile: ReadFile): TlsSettings | undefined {
  const [cert, key, clientCa] = (['TORANA_TLS_CERT', 'TORANA_TLS_KEY', 'TORANA_TLS_CLIENT_CA'] as const).map(
    (name) => variables.given(name),
  )
  if (cert === undefined && key === undefined) {
    if (clientCa !== undefined)
      variables.refuse('TORANA_TLS_CLIENT_CA', 'needs TORANA_TLS_CERT and TORANA_TLS_KEY beside it')
    return undefined
  }
  if (cert === undefined || key === undefined) {
    const [missing, given] = cert === undefined ? ['CERT', 'KEY'] : ['KEY', 'CERT']
    variables.refuse(`TORANA_TLS_${missing}`, `is not set, and belongs to TORANA_TLS_${given}`)
    return undefined
  }
  const tls = {
    certFile: resolve(cwd, cert),
    keyFile: resolve(cwd, key),
    clientCaFile: clientCa === undefined ? undefined : resolve(cwd, clientCa),
  }
  try {
    createSecureContext(readTls(tls, readFile))
  } catch (error) {
    variables.refuse('TORANA_TLS_CERT', `the certificate cannot be used: ${tlsProblem(error)}`)
  }
  return tls
}
