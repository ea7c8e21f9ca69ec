/** A real S3 server on loopback: SeaweedFS, all of it in one process, in a temporary folder. `.ci/run` installs it. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { S3Credentials, S3Settings } from '#stores/blobs/s3.ts'
import { freePort, run, temporaryFolder, type TestServer } from './servers.ts'

export const S3_OWNER: S3Credentials = { accessKeyId: 'owner', secretAccessKey: 'secret-of-the-owner' }
/** Known to the server, and allowed nothing. */
export const S3_STRANGER: S3Credentials = {
  accessKeyId: 'stranger',
  secretAccessKey: 'secret-of-the-stranger',
}

const REGION = 'us-east-1'
const BUCKET = 'torana-test'

/** From the path, or where `.ci/run` puts it. Undefined: there is none. */
export function s3Program(): string | undefined {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const installed = join(cache, 'torana-ci/seaweedfs/bin/weed')
  if (existsSync(installed)) return installed
  try {
    return execFileSync('which', ['weed'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

/** Small volumes unless given: files of tests. */
export async function startS3Server(
  program: string,
  { volumes = 20, volumeMegabytes = 64 } = {},
): Promise<TestServer> {
  const folder = temporaryFolder('s3')
  const config = join(folder, 's3.json')
  writeFileSync(
    config,
    JSON.stringify({ identities: [identity(S3_OWNER, ['Admin']), identity(S3_STRANGER, [])] }),
  )
  const port = await freePort()
  const ports = ['master.port', 'volume.port', 'filer.port'].flatMap((name) => [name, `${name}.grpc`])
  const options = [
    '-ip=127.0.0.1 -ip.bind=127.0.0.1 -filer -s3 -s3.iam=false -s3.port.iceberg=0 -s3.port.lance=0',
    `-master.volumeSizeLimitMB=${volumeMegabytes} -volume.max=${volumes}`,
    // It does not wait for others.
    '-master.electionTimeout=1s',
    `-dir=${folder} -s3.config=${config} -s3.port=${port} -s3.port.grpc=${await freePort()}`,
    ...(await Promise.all(ports.map(async (name) => `-${name}=${await freePort()}`))),
  ].flatMap((part) => part.split(' '))
  const url = `http://127.0.0.1:${port}`
  const command = [program, '-logtostderr=true', 'server', ...options]
  // On a normal signal it waits for connections to end: none of it is needed any more.
  return run({ folder, port, command, url, stopSignal: 'SIGKILL', greet: () => makeBucket(url) })
}

/** A separate empty place. All are in one bucket: each more would take the server a second and some of its volumes. */
export function testPlace(endpoint: string): S3Settings {
  const prefix = `test/${randomBytes(6).toString('hex')}`
  return { endpoint, region: REGION, bucket: BUCKET, prefix, credentials: S3_OWNER }
}

/** The variables of a node whose blobs are in a separate place of the server. */
export function s3Variables(endpoint: string): Readonly<Record<string, string>> {
  const { bucket, prefix, region } = testPlace(endpoint)
  return {
    ASSETS_URL: `s3://${bucket}/${prefix}?region=${region}&endpoint=${endpoint}`,
    AWS_ACCESS_KEY_ID: S3_OWNER.accessKeyId,
    AWS_SECRET_ACCESS_KEY: S3_OWNER.secretAccessKey,
  }
}

/** Ready is when it takes an object, not when it first answers. */
async function makeBucket(endpoint: string): Promise<void> {
  const { CreateBucketCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3')
  const credentials = { ...S3_OWNER }
  const client = new S3Client({ endpoint, region: REGION, forcePathStyle: true, credentials, maxAttempts: 1 })
  try {
    await client.send(new CreateBucketCommand({ Bucket: BUCKET })).catch((error: Error) => {
      if (!error.name.startsWith('BucketAlready')) throw error
    })
    await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'ready', Body: 'ready' }))
  } finally {
    client.destroy()
  }
}

function identity({ accessKeyId, secretAccessKey }: S3Credentials, actions: readonly string[]): object {
  return { name: accessKeyId, credentials: [{ accessKey: accessKeyId, secretKey: secretAccessKey }], actions }
}
