import { runOrchestratorContract } from '../../contract/run-orchestrator.contract.ts';
import { openEmulatorMachine } from './emulator-machine.ts';

runOrchestratorContract('Step Functions', openEmulatorMachine);
