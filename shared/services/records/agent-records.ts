import type { Agent } from '../../contracts/agent.ts';
import { agentRowSchema } from '../../contracts/rows.ts';
import { KEYS } from '../../domain/row-keys.ts';
import type { Condition, TableStore, Write } from '../../ports/table-store.ts';
import type { Versioned } from '../commit-with.ts';
import { rowData } from './row-data.ts';

/** Rows of agents, by name. The version of the row is the ETag. */
export interface AgentRecords {
  get(fingerprint: string, name: string): Promise<Versioned<Agent> | undefined>;
  list(
    fingerprint: string,
    paging: { limit: number; after?: string | undefined },
  ): Promise<{ rows: Agent[]; next?: string }>;
  write(fingerprint: string, agent: Agent, condition: Condition): Write;
  remove(fingerprint: string, name: string, version: string): Write;
}

export function createAgentRecords(table: TableStore): AgentRecords {
  return {
    async get(fingerprint, name) {
      const row = await table.get(KEYS.agent(fingerprint, name));
      return row && { value: agentRowSchema.parse(row.data), etag: row.version };
    },
    async list(fingerprint, { limit, after }) {
      const page = await table.query(KEYS.agents(fingerprint), {
        limit,
        ...(after === undefined ? {} : { after }),
      });
      return { ...page, rows: page.rows.map((row) => agentRowSchema.parse(row.data)) };
    },
    write: (fingerprint, agent, condition) => ({
      kind: 'put',
      key: KEYS.agent(fingerprint, agent.name),
      data: rowData(agent),
      if: condition,
    }),
    remove: (fingerprint, name, version) => ({
      kind: 'delete',
      key: KEYS.agent(fingerprint, name),
      if: { version },
    }),
  };
}
