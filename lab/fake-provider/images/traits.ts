/** What a scenario can ask for of the wires that make pictures, beside the traits of all wires. */
export const imageTraits = {
  'b64-only':
    'pictures as base64 and response_format is an unknown parameter, as with GPT image (the default)',
  'url-only': 'pictures as URLs of this server; 400 when base64 is asked for',
  'both-forms': 'response_format is honoured; URLs without it',
  revises: 'adds revised_prompt to each picture',
  'no-echo': 'the answer does not repeat background, output_format, quality and size',
  'refuses-stream': '400 when stream is true',
  'ignores-stream': 'a JSON answer, also when stream is true',
  'refuses-legacy': '400 for style, and for quality standard and hd, as with GPT image',

  'max-n-N': '400 for more pictures in one call',
  'sizes-WxH-WxH…': '400 for any other size; auto and no size are allowed',
  'free-sizes':
    '400 for sizes outside the rules of gpt-image-2 (multiples of 16, 3:1, 3840, 655,360 to 8,294,400 pixels)',

  'one-more': 'one picture more than asked for, which is charged as well',

  'bytes-N': 'every picture has N bytes at least',
  'wrong-size': 'every picture is half as wide as it should be',
  'wrong-format': 'webp instead of png and jpeg, png instead of webp',
  c2pa: 'every picture carries a C2PA manifest, signed by nobody',
  'not-a-picture': 'text in the place of every picture',

  moderation: 'the prompt is refused by moderation, inside a 200 where the provider does it so; not charged',
  'moderation-output': 'the same, but the picture is what was refused; not charged',

  'sse-done': 'a stream ends with [DONE]',
  'sse-error': 'a stream sends one preview, then an error; charged',
  'sse-cut': 'a stream ends after its first preview, without a word; charged',
  'sse-comments': 'a comment before every event of a stream',
  'sse-crlf': 'lines of a stream end in CR LF',
  'usage-last': 'the last event of a stream counts for all pictures, the others do not count',
  'usage-first': 'the same, but the first one',
  'event-gap-N': 'N milliseconds before every event of a stream',
  'serves-then-hangs': 'the call is served (and counted), and never answered',

  'polls-N': 'N polls find a job pending, the next one finds it done (2 if the scenario says nothing)',
  'pending-N': 'a job is pending for N milliseconds, however often it is polled',
  'job-fails': 'the job is taken, and ends as failed; not charged',
  'poll-status-N': 'every poll answers that status',
  'poll-fails-first-N': 'the first N polls of each job answer 500',
  'poll-slow-N': 'every poll answers after N milliseconds',

  'file-status-N': 'the download of a picture answers that status',
  'file-half': 'the download of a picture ends in the middle',
  'file-slow-N': 'the download of a picture starts after N milliseconds',
  'file-redirects': 'the download of a picture is redirected once',
  'foreign-files': 'URLs of pictures name the host localhost, another origin than 127.0.0.1',
} as const satisfies Record<string, string>

export type ImageTrait = keyof typeof imageTraits
