import { count } from '../../app/format.ts'
import type { modelChange as english } from '../en/model-change.ts'
import type { Partly } from '../fallback.ts'

export const modelChange: Partly<typeof english> = {
  title: (days) => `未来 ${days} 天内停用`,
  summary: (ending, all, used) =>
    `${count(all)} 个模型中的 ${count(ending)} 个${ending === 0 ? '' : `，${count(used)} 个仍在使用`}`,
  caption: (ending, first) =>
    ending === 0 ? '这段时间没有停用日期。' : `${count(ending)} 个停用日期。最近：${first}`,
  none: (day) => `${day}之前没有模型停用。`,
  checked: (time) => `日期检查：${time}`,
  legend: { sent: '已通知', due: '将通知：提前 90、30、14、7 和 1 天' },
  view: '视图',
  timeline: '时间线',
  today: '今天',
  heads: {
    model: '模型',
    upstream: '上游',
    ends: '停用',
    left: '剩余天数',
    source: '日期来源',
    successor: '后继',
    usedBy: '仍在使用',
    notices: '已通知（天）',
    requests: '请求，30 天',
  },
  left: (days) => (days > 0 ? `${days} 天` : days === 0 ? '今天' : '已停用'),
  hint: {
    sent: (days) => `已提前 ${days} 天通知。`,
    notSent: '尚未通知。',
    next: (day) => `下次通知：${day}。`,
    source: (source) => `日期来源：${source}。`,
  },
  unused: '没有密钥',
  keys: (keys) => `${count(keys)} 个密钥`,
  andMore: (keys) => `等 ${keys} 个`,
  more: (rows) => `另外 ${rows} 个`,
  fewer: '收起',
  sources: {
    upstream: (day) => `上游，${day}`,
    catalog: (day) => `目录，${day}`,
  },
  old: '过时',
  oldHint: (days) => `此日期读取于 ${days} 天前，可能已改变。`,
  lookUp: '请核实',
  later: '此后的已知日期',
  undated: (models) => `${count(models)} 个模型没有公布停用日期。`,
  oldDates: (dates) => `${count(dates)} 个日期早于 120 天前。`,
  viewOld: '查看',
  describe: (name, end, users, hint) => `${name} 于 ${end} 停用，使用者：${users}。${hint}`,
}
