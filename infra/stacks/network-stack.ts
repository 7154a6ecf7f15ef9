import { Fn, Stack, type StackProps } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../../shared/contracts/deployment-settings.ts';
import { EncryptedLogGroup } from '../constructs/encrypted-log-group.ts';
import { ClosedVpc } from '../constructs/network/closed-vpc.ts';
import { FunctionEndpoints } from '../constructs/network/function-endpoints.ts';
import { GatewayPrefixLists } from '../constructs/network/gateway-prefix-lists.ts';
import { NetworkHardening } from '../constructs/network/network-hardening.ts';
import { layerBucket, SandboxEndpoints } from '../constructs/network/sandbox-endpoints.ts';
import type { SandboxStack } from './sandbox-stack.ts';
import type { StorageStack } from './storage-stack.ts';

export interface NetworkStackProps extends StackProps {
  readonly settings: DeploymentSettings;
  readonly storage: StorageStack;
  readonly sandbox: SandboxStack;
}

interface Peers {
  readonly s3: ec2.IPeer;
  readonly dynamodb: ec2.IPeer;
}

/** A VPC without a way out: sandboxes and the functions that reach them, and a way to each service that either needs. */
export class NetworkStack extends Stack {
  readonly vpc: ec2.IVpc;
  readonly sandboxSubnets: ec2.ISubnet[];
  readonly functionSubnets: ec2.ISubnet[];
  readonly sandboxSecurityGroup: ec2.SecurityGroup;
  readonly functionSecurityGroup: ec2.SecurityGroup;
  /** A line for each name that was asked for; undefined in the form for emulators. */
  readonly queryLogs: logs.LogGroup | undefined;
  readonly #zones: number;

  constructor(scope: Construct, id: string, props: NetworkStackProps) {
    super(scope, id, props);
    const { settings, storage, sandbox } = props;
    const { deployment, availability_zones: zones, emulator } = settings;
    const hardened = emulator === undefined;
    this.#zones = zones;
    const network = new ClosedVpc(this, 'Network', { deployment, zones, closeDefaultGroup: hardened });
    this.vpc = network.vpc;
    this.sandboxSubnets = network.sandboxSubnets;
    this.functionSubnets = network.functionSubnets;
    this.sandboxSecurityGroup = network.sandboxGroup;
    this.functionSecurityGroup = network.functionGroup;
    const { s3, dynamodb } = this.#peers(hardened, props);
    network.reachGateways(network.sandboxGroup, new Map([['S3', s3]]));
    network.reachGateways(
      network.functionGroup,
      new Map([
        ['S3', s3],
        ['DynamoDB', dynamodb],
      ]),
    );
    new SandboxEndpoints(this, 'SandboxEndpoints', { network, sandbox });
    new FunctionEndpoints(this, 'FunctionEndpoints', { network, storage, sandbox });
    this.queryLogs = hardened ? this.#harden(props) : undefined;
  }

  /** Found at deployment: a look-up would need credentials at synth, and bundle everything twice. */
  override get availabilityZones(): string[] {
    return Array.from({ length: this.#zones }, (_, index) => Fn.select(index, Fn.getAzs()));
  }

  /** Emulators have no such lists, and no rules that anything is held to. */
  #peers(hardened: boolean, { settings, storage }: NetworkStackProps): Peers {
    if (!hardened) return { s3: ec2.Peer.anyIpv4(), dynamodb: ec2.Peer.anyIpv4() };
    const logGroup = new EncryptedLogGroup(this, 'LookUpLogs', {
      logGroupName: `/cognition/${settings.deployment}/prefix-list-look-up`,
      settings,
      encryptionKey: storage.key,
    });
    return new GatewayPrefixLists(this, 'PrefixLists', { logGroup });
  }

  #harden(props: NetworkStackProps): logs.LogGroup {
    const { settings, storage } = props;
    return new NetworkHardening(this, 'Hardening', {
      vpc: this.vpc,
      settings,
      encryptionKey: storage.key,
      names: this.#names(props),
    }).queryLogs;
  }

  /** Of the endpoints, and of the buckets behind them. */
  #names({ storage, sandbox }: NetworkStackProps): string[] {
    const ofAws = (name: string): string => `${name}.${this.region}.${this.urlSuffix}`;
    const buckets = [storage.artifacts, storage.packages]
      .filter((bucket) => bucket !== undefined)
      .map(({ bucketName }) => bucketName);
    return [
      ...['api.ecr', 'dynamodb', 'ecs', 'logs'].map(ofAws),
      ...(sandbox.image.repository === undefined ? [] : [sandbox.image.repository.registry]),
      ...[layerBucket(this), ...buckets].map((bucket) => ofAws(`${bucket}.s3`)),
      // Of a bucket with a dot in its name the name is part of the path.
      ofAws('s3'),
    ];
  }
}
