import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { answerCases } from './protocol.js'

/** `generate` is the library under test: it returns `{pictures, previews?}`, each `{bytes, url?}`, in their order. */
export async function answerPictures(generate, describe) {
  await answerCases(async (asked) => {
    const { pictures, previews = [] } = await generate(asked)
    return {
      pictures: await saved(pictures, `${asked.saveAs}-picture`),
      previews: await saved(previews, `${asked.saveAs}-preview`),
    }
  }, describe)
}

async function saved(pictures, saveAs) {
  return Promise.all(
    pictures.map(async ({ bytes, url }, index) => {
      const file = `${saveAs}-${index}`
      await writeFile(file, bytes)
      return { file, sha256: createHash('sha256').update(bytes).digest('hex'), url }
    }),
  )
}

/** One entry of an answer's `data`. Links are fetched as a browser would, without a key. */
export async function pictureOf({ b64_json: base64, url }) {
  if (url === undefined) return { bytes: Buffer.from(base64, 'base64') }
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
  return { bytes: Buffer.from(await answer.arrayBuffer()), url }
}
