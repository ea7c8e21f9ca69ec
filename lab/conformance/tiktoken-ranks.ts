/** Python's tiktoken fetches its ranks from the network; npm's js-tiktoken has the same ones inside. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** tiktoken names a cached file by the sha1 of the address it would fetch cl100k_base from. */
const cachedName = '9b5ad71b2ce5302211f9c61530b329a4922fc6a4'
/** tiktoken throws a cached file away that has another sum. */
const expectedSha256 = '223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7'

export async function writeRanks(nodeFolder: string, cacheFolder: string): Promise<void> {
  const file = join(cacheFolder, cachedName)
  if (existsSync(file)) return
  const module = join(nodeFolder, 'node_modules', 'js-tiktoken', 'dist', 'ranks', 'cl100k_base.js')
  const { default: ranks } = (await import(pathToFileURL(module).href)) as { default: { bpe_ranks: string } }
  const text = ranksText(ranks.bpe_ranks)
  const sum = createHash('sha256').update(text).digest('hex')
  if (sum !== expectedSha256)
    throw new Error(`The ranks of js-tiktoken are not those of cl100k_base: sha256 ${sum}.`)
  mkdirSync(cacheFolder, { recursive: true })
  writeFileSync(file, text)
}

/** From lines of `! <first rank> <token> <token> …` to one line `<token> <rank>` for each token, tokens in base64. */
function ranksText(packed: string): string {
  let text = ''
  for (const line of packed.split('\n')) {
    const [, first, ...tokens] = line.split(' ')
    for (const [offset, token] of tokens.entries()) text += `${token} ${Number(first) + offset}\n`
  }
  return text
}
