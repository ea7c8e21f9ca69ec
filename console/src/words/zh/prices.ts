import { count } from '../../app/format.ts'
import type { prices as english } from '../en/prices.ts'
import type { Partly } from '../fallback.ts'

export const prices: Partly<typeof english> = {
  title: '价格',
  text: '每个部署的价格。价格从设置时起生效；账本中已有的记录不变。',
  columns: {
    deployment: '部署',
    price: '价格',
    from: '来源',
    unpriced: '未定价调用，30 天',
    action: '',
  },
  units: {
    'million tokens': '每百万词元',
    'million input tokens': '每百万输入词元',
    'million output tokens': '每百万输出词元',
    image: '每张图片',
    megapixel: '每百万像素',
    free: '免费',
    unpriced: '没有价格',
  },
  from: {
    configuration: 'torana.yaml',
    store: (by, day) => `${by}，${day}`,
    catalog: (day) => `目录，${day}`,
    builtIn: '目录',
    none: '未设置',
  },
  calls: (n) => `${count(n)} 次调用`,
  set: '设置',
  change: '修改',
  inFile: (at) => `定义在 ${at} 中，请在那里修改。`,
  forbidden: '需要管理员角色。',
  empty: '没有部署。',
  sheet: {
    title: (deployment) => `${deployment} 的价格`,
    way: '计价方式',
    ways: { tokens: '按词元', image: '按图片', megapixel: '按百万像素', free: '免费' },
    usd: {
      tokens: '每百万词元（美元）',
      image: '每张图片（美元）',
      megapixel: '每百万像素（美元）',
    },
    table: '按尺寸、质量或词元种类定价，请写在 torana.yaml 中。',
    save: '设置价格',
    forget: '移除覆盖价格',
    effect: (then, now) => `最近 30 天的费用将是 ${now}，而不是 ${then}。`,
    saved: (deployment) => `${deployment} 的价格已保存，两秒内生效。`,
    forgotten: (deployment) => `${deployment} 的覆盖价格已移除。`,
  },
}
