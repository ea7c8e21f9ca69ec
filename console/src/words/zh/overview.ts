import { count, money } from '../../app/format.ts'
import type { overview as english } from '../en/overview.ts'
import type { Partly } from '../fallback.ts'

export const overview: Partly<typeof english> = {
  traffic: '流量',
  rate: (perSecond, reporting, alive) => `每秒 ${perSecond} 个请求 · ${reporting} / ${alive} 个节点`,
  pause: '暂停',
  resume: '继续',
  paused: (time) => `暂停于 ${time}`,
  metrics: { label: '显示', requests: '请求', tokens: '词元', images: '图片', usd: '费用' },
  heads: {
    key: '密钥',
    model: '模型',
    deployment: '部署',
    requests: '每秒',
    share: '占比',
    failed: '失败',
    p95: 'p95',
    tokens: '词元/秒',
    images: '图片/秒',
    usd: '美元/小时',
  },
  picture: {
    label: '从密钥经过模型到部署的流量',
    view: '视图',
    asPicture: '图形',
    asTable: '表格',
    keys: '密钥',
    models: '模型',
    deployments: '部署',
    units: { requests: '每秒', tokens: '每秒', images: '每秒', usd: '每小时' },
    others: (n) => `其他 ${n} 个`,
  },
  cache: '向量缓存',
  quiet: '目前没有流量。',
  quietText: '一有流量，最近十秒的流向就会显示在这里。',
  waiting: '等待第一个请求…',
  waitingText: '用你的密钥发送一个：',
  attention: '需要关注',
  nothing: '目前无需处理。',
  alert: '为此设置警报',
  alertOn: (what) => `为此设置警报：${what}`,
  nMore: (n) => `还有 ${n} 项`,
  requests: '请求',
  aMinute: '每分钟',
  answeredShare: (share) => `${share} 已应答`,
  latency: '延迟',
  p95: 'p95',
  adds: (own) => `Torana 自身 ${own}`,
  spent: '今日花费',
  heading: (forecast, pace) => `预计 ${forecast}，进度 ${pace}`,
  headingAlone: (forecast) => `预计 ${forecast}`,
  cacheTitle: '缓存',
  saved: (usd) => `今日节省 ${usd}`,
  noCache: '没有模型在使用缓存',
  legend: {
    answered: '已应答',
    refused: '被拒',
    limited: '受限',
    failed: '失败',
    unknown: '未知',
    spent: '已花费',
    pace: '预算进度',
    forecast: '预测',
    hits: '来自缓存',
  },
  captions: {
    requests: (n, failed) => `${n} 个请求，其中 ${failed} 个失败`,
    latency: (p95) => `p95 ${p95}`,
    spent: (usd) => `这段时间花费 ${usd}`,
    cache: (share) => `${share} 的输入来自缓存`,
  },
  items: {
    deployment_ejected: {
      title: (name) => `${name} 已剔除`,
      text: (f) =>
        `${f['model']}：${f['calls']} 次调用中 ${f['failed']} 次失败${because(f)}。${takingOver(f)}`,
      link: '打开',
    },
    deployment_rejected_us: {
      title: (name) => `${name} 拒绝我们的凭据`,
      text: (f) => `${f['model']}：凭据无效或配额用尽${because(f)}。`,
      link: '打开',
    },
    space_left: {
      title: (name) => `${name} 未通过空间检查`,
      text: (f) => `${f['model']}：${cosineText(f)}。不再接收流量。`,
      link: '查看漂移',
    },
    space_warned: {
      title: (name) => `${name} 正在漂移`,
      text: (f) => `${f['model']}：${cosineText(f)}。仍在服务。`,
      link: '打开',
    },
    usage_above_expected: {
      title: (name) => `${name} 计数高于预期`,
      text: (f) =>
        Number(f['cut']) > 0
          ? `${f['model']}：${f['calls']} 次调用，其中 ${f['cut']} 次的计数不可能为真，只计入一部分。`
          : `${f['model']}：${f['calls']} 次调用高于模型资料的上限，已全额计费。`,
      link: '打开',
    },
    unknowns_open: {
      title: (_, f) => `${f['open']} 个未知结果`,
      text: (f) => `${dollars(f['usd'])} 暂计为已花费。最早的将在 ${f['posts_in']}后自动入账。`,
      link: '处理',
    },
    budget_mark: {
      title: (name, f) => `预算 ${name} 已用 ${f['percent']}%`,
      text: (f) => `${dollars(f['spent_usd'])} / ${dollars(f['limit_usd'])}，硬限额。`,
      link: '预算',
    },
    budget_used_up: {
      title: (name) => `预算 ${name} 已用完`,
      text: (f) => `${dollars(f['spent_usd'])} / ${dollars(f['limit_usd'])}，硬限额。请求被拒绝。`,
      link: '预算',
    },
    deployment_unpriced: {
      title: (name) => `${name} 没有价格`,
      text: (f) => `${f['model']}：${count(Number(f['keys']))} 个带硬性预算的密钥会跳过它。请设置价格。`,
      link: '设定价格',
    },
    unpriced_refused: {
      title: (name) => `${name} 没有价格`,
      text: (f) => `今日有 ${count(Number(f['requests']))} 个请求因硬限额被拒绝。`,
      link: '设定价格',
    },
    model_retired_used: {
      title: (name) => `${name === '' ? '已退役的模型' : name} 仍在使用`,
      text: (f) => `今日 ${count(Number(f['requests']))} 个请求，来自 ${f['projects']}。`,
      link: '请求',
    },
    model_ends: {
      title: (_, f) =>
        Number(f['days']) > 0
          ? `${f['model']} 将在 ${count(Number(f['days']))} 天后停用`
          : `${f['model']} 已停用`,
      text: (f) =>
        [
          `${f['upstream']}，${f['on']}。`,
          ...(f['successor'] === '' ? [] : [`后继模型：${f['successor']}。`]),
          ...(f['goes_on'] === '' ? [] : [`${f['goes_on']} 继续提供。`]),
          usedBy(f),
        ].join(''),
      link: '模型',
    },
    key_idle: {
      title: () => '未使用的密钥',
      text: (f, name) => `${name}：${f['age']}前最后使用${f['ends_at'] === undefined ? '，永不过期' : ''}。`,
      link: '密钥',
    },
    key_ends: {
      title: () => '密钥即将到期',
      text: (f, name) => `${name} 将在 ${f['in']}后到期。`,
      link: '密钥',
    },
    node_silent: {
      title: (_, f) => `${f['host']} 未上报`,
      text: (f) => `已 ${f['age']}未见。它持有预算 ${dollars(f['leased_usd'])}。`,
      link: '节点',
    },
    spool_waiting: {
      title: () => '记录在磁盘上排队',
      text: (f) => `${count(Number(f['waiting']))} 条记录等待 PostgreSQL。`,
      link: '节点',
    },
    store_away: {
      title: () => 'PostgreSQL 不可达',
      text: (f) => `流量照常。${count(Number(f['waiting']))} 条记录在磁盘上等待。`,
      link: '节点',
    },
    doctor_wrong: { title: () => '账本检查未通过', text: () => '请运行诊断。', link: '诊断' },
    webhook_given_up: {
      title: (name) => `${name} 的回调失败`,
      text: (f) => `本周放弃了 ${count(Number(f['events']))} 个事件。`,
      link: '项目',
    },
    partition_missing: {
      title: () => '缺少分区',
      text: (f) => `${count(Number(f['rows']))} 行落在默认分区。`,
      link: '诊断',
    },
    ledger_stalled: {
      title: () => '账本停滞',
      text: (f) => `已 ${f['hours']} 小时没有${f['step'] === 'sealed' ? '封存' : '核对'}。`,
      link: '诊断',
    },
    labels_overflowed: {
      title: (name) => `项目 ${name} 的用户或标签超出单独统计的上限`,
      text: (f) => `最近一天有 ${dollars(f['usd'])} 计入“其他”（${f['labels']}）。`,
      link: '用量',
    },
  },
}

function usedBy({ keys, more_keys: more }: Readonly<Record<string, string | number | undefined>>): string {
  if (keys === undefined) return ''
  if (keys === '') return '30 天内没有密钥使用它。'
  return `30 天内使用它的密钥：${keys}${Number(more) > 0 ? `，另有 ${count(Number(more))} 个` : ''}。`
}

function cosineText(figures: Readonly<Record<string, string | number | undefined>>): string {
  const cosine = Number(figures['least_cosine']).toFixed(4)
  return `${figures['least_of'] === 'images' ? '图像的' : ''}最小余弦 ${cosine}`
}

function because(figures: Readonly<Record<string, string | number | undefined>>): string {
  return figures['reason'] === '' || figures['reason'] === undefined ? '' : `，${figures['reason']}`
}

function dollars(usd: string | number | undefined): string {
  return money(typeof usd === 'number' ? usd.toFixed(9) : usd)
}

function takingOver({
  stands_in: other,
  skipping_keys: keys = 0,
}: Readonly<Record<string, string | number | undefined>>): string {
  if (other === '') return '没有后备。'
  return keys === 0 ? `${other} 接替。` : `${other} 接替，但 ${keys} 个有硬预算的密钥除外。`
}
