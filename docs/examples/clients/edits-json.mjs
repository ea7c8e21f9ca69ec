import { readFileSync } from 'node:fs'

const { TORANA_BASE_URL, TORANA_KEY } = process.env

const dataUrl = (file) => `data:image/png;base64,${readFileSync(file, 'base64')}`

const response = await fetch(`${TORANA_BASE_URL}/images/edits`, {
  method: 'POST',
  headers: { authorization: `Bearer ${TORANA_KEY}`, 'content-type': 'application/json' },
  body: JSON.stringify({
    model: 'demo-image',
    prompt: 'a rowing boat',
    images: [{ image_url: dataUrl('docs/pictures/harbour.png') }],
    mask: { image_url: dataUrl('docs/pictures/harbour-mask.png') },
    response_format: 'url',
  }),
})
console.log(response.status, (await response.json()).data[0].url)
