import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as actions from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { type AlarmSource, type AlarmSubjects, alarmSources } from './alarm-sources.ts';
import { ALARMS, type AlarmEntry } from './alarm-table.ts';

export interface DeploymentAlarmsProps {
  readonly subjects: AlarmSubjects;
  readonly topic: sns.Topic;
  /** Whether the place knows alarms over formulas; not every emulator does. */
  readonly formulas: boolean;
}

/** The alarms of the table that this deployment has something to look at for. */
export class DeploymentAlarms extends Construct {
  readonly alarms: readonly cloudwatch.Alarm[];

  constructor(scope: Construct, id: string, props: DeploymentAlarmsProps) {
    super(scope, id);
    const sources = alarmSources(props.subjects);
    const notify = new actions.SnsAction(props.topic);
    this.alarms = ALARMS.flatMap((entry) => {
      const source = sources[entry.id];
      if (source === undefined) return [];
      if (!props.formulas && source.metric instanceof cloudwatch.MathExpression) return [];
      const alarm = new cloudwatch.Alarm(
        this,
        entry.id,
        alarmProps(props.subjects.deployment, entry, source),
      );
      alarm.addAlarmAction(notify);
      alarm.addOkAction(notify);
      return [alarm];
    });
  }
}

const alarmProps = (
  deployment: string,
  { id, title, impact, runbook }: AlarmEntry,
  { metric, threshold, periods, of_them = periods, when_below = false }: AlarmSource,
): cloudwatch.AlarmProps => ({
  alarmName: `${deployment}-${id}`,
  alarmDescription: `${title}. ${impact} What to do: ${runbook}`,
  metric,
  threshold,
  evaluationPeriods: periods,
  datapointsToAlarm: of_them,
  comparisonOperator: when_below
    ? cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
    : cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  // A function that does not run reports nothing; anything else that reports nothing has no trouble.
  treatMissingData: when_below
    ? cloudwatch.TreatMissingData.BREACHING
    : cloudwatch.TreatMissingData.NOT_BREACHING,
});
