/** Drawn photos for a playground with contents: small SVGs on 120 × 120, with the size that each is saved at. */
import sharp from 'sharp'

interface Drawing {
  readonly width: number
  readonly height: number
  /** Wider than the square, so that a wide image has no bars. */
  readonly svg: string
}

const wall = (colour: string, floor: string): string =>
  `<rect x="-120" width="360" height="120" fill="${colour}"/><rect x="-120" y="92" width="360" height="28" fill="${floor}"/>`
const sky = (colour: string): string => `<rect x="-120" width="360" height="120" fill="${colour}"/>`
const sea = (y: number, colour: string): string =>
  `<rect x="-120" y="${y}" width="360" height="${120 - y}" fill="${colour}"/>`

const DRAWINGS: Readonly<Record<string, Drawing>> = {
  'armchair.jpg': {
    width: 800,
    height: 600,
    svg: `${wall('#e9dcc6', '#d3bf9f')}<path d="M32 98V106M88 98V106" stroke="#5a3a22" stroke-width="7"/>
      <rect x="30" y="26" width="60" height="52" rx="14" fill="#d08a2e"/><rect x="34" y="62" width="52" height="22" rx="6" fill="#edb45a"/>
      <rect x="18" y="54" width="18" height="46" rx="9" fill="#b97420"/><rect x="84" y="54" width="18" height="46" rx="9" fill="#b97420"/>
      <rect x="32" y="80" width="56" height="20" rx="4" fill="#d08a2e"/>`,
  },
  'office-chair.jpg': {
    width: 800,
    height: 600,
    svg: `${wall('#d8e3ea', '#bccad3')}<rect x="40" y="14" width="40" height="44" rx="9" fill="#2d3b47"/>
      <rect x="32" y="62" width="56" height="12" rx="6" fill="#3f5160"/><path d="M60 56V98M60 98L34 108M60 98L86 108M60 98V110" stroke="#2d3b47" stroke-width="6"/>
      <g fill="#16202a"><circle cx="34" cy="109" r="5"/><circle cx="86" cy="109" r="5"/><circle cx="60" cy="111" r="5"/></g>`,
  },
  'stool.jpg': {
    width: 640,
    height: 640,
    svg: `${wall('#e6efdd', '#cbd9bd')}<path d="M40 44L28 108M80 44L92 108M34 80H86" stroke="#8a4a22" stroke-width="8"/>
      <rect x="22" y="30" width="76" height="17" rx="8" fill="#b5672f"/>`,
  },
  'deckchair.jpg': {
    width: 1024,
    height: 768,
    svg: `${sky('#a9daf1')}${sea(58, '#4fa3c7')}<rect x="-120" y="74" width="360" height="46" fill="#f1d79a"/><circle cx="97" cy="22" r="13" fill="#ffd257"/>
      <path d="M30 46L84 94" stroke="#2f6fb5" stroke-width="15"/><path d="M30 46L84 94" stroke="#fff" stroke-width="4"/>
      <path d="M26 42L100 108M92 74L44 108" stroke="#7a4a25" stroke-width="5" stroke-linecap="round"/>`,
  },
  'apple.jpg': {
    width: 512,
    height: 512,
    svg: `${sky('#f6e7d3')}<path d="M60 42C44 26 20 38 22 66C24 92 44 108 60 100C76 108 96 92 98 66C100 38 76 26 60 42Z" fill="#c9332b"/>
      <path d="M60 42Q58 26 66 16" stroke="#5a3a22" stroke-width="5" fill="none"/><path d="M64 28Q78 12 92 20Q82 34 64 28Z" fill="#4c8a34"/>
      <ellipse cx="40" cy="60" rx="6" ry="11" fill="#e4776c"/>`,
  },
  'pear.jpg': {
    width: 512,
    height: 512,
    svg: `${sky('#eaf1dc')}<path d="M60 24C74 24 74 44 80 58C94 72 94 106 60 106C26 106 26 72 40 58C46 44 46 24 60 24Z" fill="#a3b93c"/>
      <path d="M60 26Q60 16 68 10" stroke="#5a3a22" stroke-width="5" fill="none"/><ellipse cx="46" cy="78" rx="6" ry="12" fill="#c3d46a"/>`,
  },
  'lemon.jpg': {
    width: 512,
    height: 512,
    svg: `${sky('#dceaf2')}<path d="M14 64C24 58 32 34 60 34C88 34 96 58 106 64C96 70 88 94 60 94C32 94 24 70 14 64Z" fill="#f3c92f"/>
      <ellipse cx="48" cy="52" rx="15" ry="6" fill="#fbe27a"/>`,
  },
  'black-cat.jpg': {
    width: 900,
    height: 600,
    svg: `${wall('#dcd3ea', '#c3b6d8')}<path d="M84 104Q112 100 104 68" stroke="#1c1c22" stroke-width="9" fill="none" stroke-linecap="round"/>
      <path d="M36 108C34 72 44 60 60 60C76 60 86 72 84 108Z" fill="#1c1c22"/><circle cx="60" cy="46" r="23" fill="#1c1c22"/>
      <path d="M38 40L40 12L58 26ZM82 40L80 12L62 26Z" fill="#1c1c22"/><g fill="#f0c93a"><circle cx="51" cy="44" r="4"/><circle cx="69" cy="44" r="4"/></g>`,
  },
  'tabby.jpg': {
    width: 900,
    height: 600,
    svg: `${wall('#e3eedc', '#c5d8b8')}<path d="M96 86Q116 78 110 54" stroke="#c97627" stroke-width="9" fill="none" stroke-linecap="round"/>
      <ellipse cx="66" cy="84" rx="40" ry="22" fill="#d9862f"/><circle cx="34" cy="58" r="21" fill="#d9862f"/><path d="M16 52L16 28L32 40ZM52 52L52 28L36 40Z" fill="#d9862f"/>
      <path d="M58 64L62 82M74 64L76 82M90 68L90 84M30 42V50M38 42V50" stroke="#9c5515" stroke-width="5"/>
      <g fill="#26301c"><circle cx="27" cy="58" r="3"/><circle cx="41" cy="58" r="3"/></g>`,
  },
  'window-cat.jpg': {
    width: 900,
    height: 600,
    svg: `${sky('#e8d6c2')}<rect x="14" y="8" width="92" height="92" fill="#a9d7ee"/><path d="M60 8V100M14 50H106" stroke="#fff" stroke-width="6"/>
      <rect x="14" y="8" width="92" height="92" fill="none" stroke="#fff" stroke-width="7"/><rect x="4" y="98" width="112" height="12" fill="#fff"/>
      <path d="M40 100C38 76 46 68 60 68C74 68 82 76 80 100Z" fill="#6d7480"/><circle cx="60" cy="58" r="17" fill="#6d7480"/><path d="M44 54L45 32L58 44ZM76 54L75 32L62 44Z" fill="#6d7480"/>`,
  },
  'dunes.jpg': {
    width: 1200,
    height: 800,
    svg: `${sky('#bfe6f6')}<circle cx="92" cy="24" r="12" fill="#fff0a8"/>${sea(60, '#5fb0cf')}<path d="M-120 84Q-30 54 30 72T150 66T240 78V120H-120Z" fill="#e8c67c"/>
      <path d="M-120 106Q-20 82 50 98T240 92V120H-120Z" fill="#d4a653"/><path d="M22 88L18 68M26 88L30 66M30 90L40 74" stroke="#6b8a3a" stroke-width="3"/>`,
  },
  'pier.jpg': {
    width: 1200,
    height: 800,
    svg: `${sky('#9fd0ea')}${sea(54, '#2e6f9e')}<path d="M52 54H68L96 120H24Z" fill="#7a4f2c"/><path d="M48 66H72M43 80H77M36 98H84" stroke="#5a3a22" stroke-width="4"/>
      <path d="M88 50V22L106 46ZM84 52H110L104 60H90Z" fill="#fff"/>`,
  },
  'sunset.jpg': {
    width: 1200,
    height: 800,
    svg: `${sky('#b8506a')}<rect x="-120" y="30" width="360" height="38" fill="#e8775b"/><circle cx="60" cy="64" r="22" fill="#ffd873"/>${sea(68, '#323a6b')}
      <path d="M38 76H82M44 88H76M50 100H70" stroke="#ffb36b" stroke-width="5" stroke-linecap="round"/>`,
  },
}

export interface DrawnFile {
  readonly name: string
  readonly mimeType: string
  readonly buffer: Buffer
}

export async function drawn(name: string): Promise<DrawnFile> {
  const drawing = DRAWINGS[name]
  if (drawing === undefined) throw new Error(`no drawing is named ${name}`)
  const { width, height, svg } = drawing
  const image = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 120" width="${width}" height="${height}">${svg}</svg>`
  return { name, mimeType: 'image/jpeg', buffer: await sharp(Buffer.from(image)).jpeg().toBuffer() }
}
