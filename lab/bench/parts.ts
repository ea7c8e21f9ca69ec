/** Shared by the measurements: nginx as an upstream, and the bare proxy. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { httpReady, portReady, spawnOn, type Started } from '../processes.ts'
import { freePort } from '../../server/test/support/servers.ts'

/** The answer of nginx at `/<name>/v1/<route>`. */
export interface FixedAnswer {
  readonly name: string
  readonly route: 'embeddings' | 'images/generations'
  readonly body: string
}

/** One vector for each of `count` texts. */
export function embeddingsBody(encoding: 'base64' | 'float', count = 1): string {
  const values = Float32Array.from({ length: 1536 }, (_, index) => Math.sin(index * 12.9898) * 0.0361)
  const numbers = Array.from(values, (value) => String(Number(value.toPrecision(9))))
  const embedding =
    encoding === 'float' ? `[${numbers.join(',')}]` : JSON.stringify(new Uint8Array(values.buffer).toBase64())
  const items = Array.from(
    { length: count },
    (_, index) => `{"object":"embedding","index":${index},"embedding":${embedding}}`,
  )
  const tokens = 8 * count
  return `{"object":"list","data":[${items.join(',')}],"model":"text-embedding-3-small","usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`
}

/** An upstream that costs next to nothing: nginx with the same answer for everyone, in one process, which leaves no other behind. */
export async function startNginx(
  folder: string,
  core: number,
  more: readonly FixedAnswer[] = [],
): Promise<Started> {
  const port = await freePort()
  const answers: readonly FixedAnswer[] = [
    { name: 'base64', route: 'embeddings', body: embeddingsBody('base64') },
    { name: 'float', route: 'embeddings', body: embeddingsBody('float') },
    ...more,
  ]
  for (const { name, body } of answers) writeFileSync(join(folder, `${name}.json`), body)
  const location = ({ name, route }: FixedAnswer): string =>
    `location = /${name}/v1/${route} { default_type application/json; error_page 405 =200 /${name}.json; return 405; }
     location = /${name}.json { default_type application/json; root ${folder}; }`
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; ${process.getuid?.() === 0 ? 'user root;' : ''} master_process off; pid ${folder}/nginx.pid; error_log stderr crit;
     events { worker_connections 4096; }
     http { access_log off; keepalive_requests 1000000000; keepalive_timeout 300s; open_file_cache max=10;
       client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
       uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
       server { listen 127.0.0.1:${port} backlog=4096; ${answers.map(location).join(' ')} } }`,
  )
  const { pid } = spawnOn(core, 'nginx', ['-c', join(folder, 'nginx.conf'), '-p', folder], {})
  const origin = `http://127.0.0.1:${port}`
  await httpReady(`${origin}/base64.json`)
  return { pid, origin }
}

/** The proxy to compare with. */
export async function startBare(upstream: string, core: number): Promise<Started> {
  const port = await freePort()
  const { pid } = spawnOn(
    core,
    process.execPath,
    [join(import.meta.dirname, 'bare-proxy.ts'), upstream, String(port)],
    {},
  )
  await portReady(port)
  return { pid, origin: `http://127.0.0.1:${port}` }
}
