/** What the measurements share: the upstream, the bare proxy, and a table. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort, httpReady, spawnOn } from './processes.ts'

/** An upstream that costs next to nothing: nginx with the same answer for everybody. */
export async function startNginx(folder: string, core: number): Promise<number> {
  const port = await freePort()
  const values = Float32Array.from({ length: 1536 }, (_, index) => Math.sin(index * 12.9898) * 0.0361)
  const answer = (embedding: string): string =>
    `{"object":"list","data":[{"object":"embedding","index":0,"embedding":${embedding}}],"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}`
  writeFileSync(join(folder, 'base64.json'), answer(JSON.stringify(new Uint8Array(values.buffer).toBase64())))
  const numbers = Array.from(values, (value) => String(Number(value.toPrecision(9))))
  writeFileSync(join(folder, 'float.json'), answer(`[${numbers.join(',')}]`))
  const location = (name: string): string =>
    `location = /${name}/v1/embeddings { default_type application/json; error_page 405 =200 /${name}.json; return 405; }
     location = /${name}.json { default_type application/json; root ${folder}; }`
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; ${process.getuid?.() === 0 ? 'user root;' : ''} worker_processes 1; pid ${folder}/nginx.pid; error_log stderr crit;
     events { worker_connections 4096; }
     http { access_log off; keepalive_requests 1000000000; keepalive_timeout 300s; open_file_cache max=10;
       client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
       uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
       server { listen 127.0.0.1:${port} backlog=4096; ${location('base64')} ${location('float')} } }`,
  )
  spawnOn(core, 'nginx', ['-c', join(folder, 'nginx.conf'), '-p', folder], {})
  await httpReady(`http://127.0.0.1:${port}/base64.json`)
  return port
}

/** What there is to compare with. */
export async function startBare(origin: string, core: number): Promise<{ pid: number; port: number }> {
  const port = await freePort()
  const { pid } = spawnOn(
    core,
    process.execPath,
    [join(import.meta.dirname, 'bare-proxy.ts'), origin, String(port)],
    {},
  )
  await wait(1500)
  return { pid, port }
}

export function print(rows: readonly string[][]): void {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of rows)
    process.stdout.write(`${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`)
}
