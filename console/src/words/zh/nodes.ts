import { count } from '../../app/format.ts'
import type { nodes as english } from '../en/nodes.ts'
import type { Partly } from '../fallback.ts'

export const nodes: Partly<typeof english> = {
  title: '节点',
  text: '此安装中的网关进程。',
  columns: {
    host: '节点',
    state: '状态',
    loop: '事件循环',
    calls: '调用',
    spool: '待写',
    leased: '持有预算',
  },
  states: { alive: '运行中', silent: '无响应', ended: '已移除' },
  ago: (age) => `${age}前`,
  started: (time) => `启动于 ${time}`,
  empty: '还没有节点连接到此数据库。',
  end: '移除…',
  endTitle: (host) => `移除 ${host}？`,
  endText: '仅用于机器已不存在的情况。其日志中的内容将一并丢失。',
  comesHome: '将释放',
  leasedBack: (usd) => `硬预算 ${usd}`,
  records: '磁盘上的记录',
  unknownRecords: '未知',
  isAlive: '它在一分钟内仍可见。请改为停止其进程。',
  onlyAdmins: '需要管理员角色。',
  ended: (host, usd) => `${host} 已移除，释放 ${usd}`,
  doctor: '诊断',
  doctorText: (at) => `账本、汇总与预算于 ${at} 检查。`,
  again: '再次检查',
  verdicts: { ok: '正常', warn: '注意', fail: '错误' },
  checks: (n) => `${count(n)} 项检查`,
}
