/** The proxy from a test's side: what is to go wrong, and what was called. */
import { randomUUID } from 'node:crypto';
import { type Faults, type SeenCall, seenCallsSchema } from './fault-rules.ts';

export interface FaultControl {
  /** What a test disturbs ends with the test; others go on at the same time. */
  while<T>(faults: Faults, act: () => Promise<T>): Promise<{ result: T; disturbed: SeenCall[] }>;
  /** Every call since the deployment. */
  seen(): Promise<SeenCall[]>;
  /** Calls that came while `act` ran and ended since, of whomever. */
  during<T>(act: () => Promise<T>): Promise<{ result: T; calls: SeenCall[] }>;
}

export function faultControl(proxy: string): FaultControl {
  const callsAfter = async (sequence: number): Promise<SeenCall[]> => {
    const response = await fetch(`${proxy}/calls?after=${sequence}`);
    return seenCallsSchema.parse(await response.json());
  };
  return {
    seen: () => callsAfter(0),
    while: async (faults, act) => {
      const id = randomUUID();
      const url = `${proxy}/faults/${id}`;
      const set = await fetch(url, { method: 'PUT', body: JSON.stringify(faults) });
      if (!set.ok) throw new Error(`the proxy refused ${JSON.stringify(faults)}: ${await set.text()}`);
      try {
        const result = await act();
        const disturbed = (await callsAfter(0)).filter((call) => call.faults_id === id);
        return { result, disturbed };
      } finally {
        await fetch(url, { method: 'DELETE' });
      }
    },
    during: async (act) => {
      const before = await callsAfter(0);
      const last = before.reduce((most, { sequence }) => Math.max(most, sequence), 0);
      const result = await act();
      return { result, calls: await callsAfter(last) };
    },
  };
}
