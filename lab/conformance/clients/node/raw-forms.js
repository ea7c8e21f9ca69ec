/** No library at all: forms written part by part, in all the ways that some library somewhere writes them. */
import { readFile } from 'node:fs/promises'
import { answerPictures, pictureOf } from './pictures.js'
import { describeRefused, Refused } from './protocol.js'

const boundary = '----torana-form-7MA4YWxkTrZu0gW'

async function ask({ baseUrl, apiKey, edit, ...asked }) {
  const body = await bodyOf(edit, {
    model: asked.model,
    prompt: asked.prompt,
    n: asked.n,
    output_format: asked.outputFormat,
  })
  const answer = await fetch(`${baseUrl}/images/edits`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
    body: edit.form.chunked ? ReadableStream.from(body) : Buffer.concat(body),
    duplex: 'half',
  })
  if (!answer.ok) throw new Refused(answer, (await answer.json()).error)
  const { data } = await answer.json()
  return { pictures: await Promise.all(data.map(pictureOf)) }
}

async function bodyOf({ images, mask, form }, fields) {
  const pictures = await Promise.all(images.map((file, index) => filePart(form.names[index], file, form)))
  const masks = mask === undefined ? [] : [await filePart('mask', mask, form)]
  const files = form.maskFirst ? [...masks, ...pictures] : [...pictures, ...masks]
  const texts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => part([`content-disposition: form-data; name="${name}"`], String(value)))
  const parts = form.filesFirst ? [...files, ...texts] : [...texts, ...files]
  return [...parts, Buffer.from(`--${boundary}--\r\n`)]
}

async function filePart(name, { file, name: filename, type }, { noFilename, noType }) {
  const label = noFilename ? '' : `; filename="${filename.replaceAll('"', '%22')}"`
  return part(
    [`Content-Disposition: form-data; name="${name}"${label}`, ...(noType ? [] : [`Content-Type: ${type}`])],
    await readFile(file),
  )
}

function part(headers, content) {
  return Buffer.concat([
    Buffer.from(`--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
}

await answerPictures(ask, describeRefused)
