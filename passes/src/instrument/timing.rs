//! How long passes take.

use std::fmt::Write as _;
use std::time::Duration;
use std::time::Instant;

use cuweld_ir::Module;

use super::Instrument;
use super::InstrumentError;
use super::PassReport;
use super::RunInfo;
use super::StepInfo;
use crate::pass::PassError;

/// Measures wall time, and CPU time if it is given a clock for that. Put it last, so that it
/// measures no other instrument.
pub struct Timing<'a> {
    clock: Box<dyn FnMut() -> Duration + 'a>,
    cpu: Option<Box<dyn FnMut() -> Duration + 'a>>,
    pipeline: String,
    begun: Time,
    pass_begun: Time,
    total: Time,
    passes: Vec<Timed>,
}

struct Timed {
    via: Vec<String>,
    name: &'static str,
    time: Time,
}

/// Wall and CPU time.
#[derive(Clone, Copy, Debug, Default)]
struct Time {
    wall: Duration,
    cpu: Duration,
}

impl Time {
    fn since(self, begun: Time) -> Time {
        Time {
            wall: self.wall.saturating_sub(begun.wall),
            cpu: self.cpu.saturating_sub(begun.cpu),
        }
    }
}

impl std::iter::Sum for Time {
    fn sum<I: Iterator<Item = Time>>(times: I) -> Time {
        times.fold(Time::default(), |sum, time| Time {
            wall: sum.wall + time.wall,
            cpu: sum.cpu + time.cpu,
        })
    }
}

impl Default for Timing<'_> {
    fn default() -> Self {
        let start = Instant::now();
        Self::with_clock(move || start.elapsed())
    }
}

impl<'a> Timing<'a> {
    /// Measures by the wall clock.
    pub fn new() -> Self {
        Self::default()
    }

    /// Measures by this clock.
    pub fn with_clock(clock: impl FnMut() -> Duration + 'a) -> Self {
        Timing {
            clock: Box::new(clock),
            cpu: None,
            pipeline: String::new(),
            begun: Time::default(),
            pass_begun: Time::default(),
            total: Time::default(),
            passes: Vec::new(),
        }
    }

    /// Measures CPU time as well, by this clock: that of all threads of the process.
    pub fn with_cpu(mut self, clock: impl FnMut() -> Duration + 'a) -> Self {
        self.cpu = Some(Box::new(clock));
        self
    }

    fn now(&mut self) -> Time {
        Time {
            wall: (self.clock)(),
            cpu: self.cpu.as_mut().map_or(Duration::ZERO, |clock| clock()),
        }
    }

    /// Returns the times as a tree: the pipeline, the pipelines that it includes, their passes.
    pub fn report(&self) -> String {
        let mut out = String::from(match self.cpu {
            Some(_) => "   wall ms    share      cpu ms  pass\n",
            None => "   wall ms    share  pass\n",
        });
        self.line(&mut out, self.total, 0, &self.pipeline);
        let mut open: &[String] = &[];
        for (index, pass) in self.passes.iter().enumerate() {
            let common = open
                .iter()
                .zip(&pass.via)
                .take_while(|(left, right)| left == right)
                .count();
            for depth in common..pass.via.len() {
                let group = pass.via.get(..=depth).unwrap_or(&[]);
                let members = self.passes.get(index..).unwrap_or(&[]).iter();
                let time = members
                    .take_while(|member| member.via.starts_with(group))
                    .map(|member| member.time)
                    .sum();
                self.line(
                    &mut out,
                    time,
                    depth + 1,
                    group.last().map_or("", String::as_str),
                );
            }
            open = &pass.via;
            self.line(&mut out, pass.time, open.len() + 1, pass.name);
        }
        let passes: Time = self.passes.iter().map(|pass| pass.time).sum();
        self.line(&mut out, self.total.since(passes), 1, "(between passes)");
        out
    }

    fn line(&self, out: &mut String, time: Time, depth: usize, name: &str) {
        let total = self.total.wall.as_secs_f64();
        let share = if total > 0.0 {
            100.0 * time.wall.as_secs_f64() / total
        } else {
            0.0
        };
        let ms = time.wall.as_secs_f64() * 1e3;
        let _ = write!(out, "{ms:10.3}  {share:6.1}%");
        if self.cpu.is_some() {
            let _ = write!(out, "  {:10.3}", time.cpu.as_secs_f64() * 1e3);
        }
        let _ = writeln!(out, "  {:1$}{name}", "", 2 * depth);
    }

    fn end_pass(&mut self, step: &StepInfo<'_>) {
        let time = self.now().since(self.pass_begun);
        self.passes.push(Timed {
            via: step.via.to_vec(),
            name: step.name,
            time,
        });
    }
}

impl Instrument for Timing<'_> {
    fn before_run(&mut self, run: &RunInfo<'_>, _: &Module<'_>) -> Result<(), InstrumentError> {
        self.pipeline = run.pipeline.to_owned();
        self.begun = self.now();
        Ok(())
    }

    fn before_pass(&mut self, _: &StepInfo<'_>, _: &Module<'_>) -> Result<(), InstrumentError> {
        self.pass_begun = self.now();
        Ok(())
    }

    fn after_pass(
        &mut self,
        step: &StepInfo<'_>,
        _: &Module<'_>,
        _: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        self.end_pass(step);
        Ok(())
    }

    fn after_failed(&mut self, step: &StepInfo<'_>, _: &Module<'_>, _: &PassError) {
        self.end_pass(step);
    }

    fn after_run(&mut self, _: &RunInfo<'_>, _: &Module<'_>) {
        self.total = self.now().since(self.begun);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::tests::Bench;

    #[test]
    fn the_tree_has_includes_and_passes() {
        let mut now = 0;
        // Each look at the clock takes a millisecond longer than the one before.
        let mut step = 0;
        let mut timing = Timing::with_clock(move || {
            step += 1;
            now += step;
            Duration::from_millis(now)
        });
        let bench = Bench::including("nothing,@front,symbol-resolve");
        bench.run(&mut [&mut timing]).unwrap();
        assert_eq!(
            timing.report(),
            "   wall ms    share  pass\n    \
             54.000   100.0%  test\n     \
             3.000     5.6%    nothing\n    \
             12.000    22.2%    front\n     \
             5.000     9.3%      classify\n     \
             7.000    13.0%      select-objects\n     \
             9.000    16.7%    symbol-resolve\n    \
             30.000    55.6%    (between passes)\n"
        );
    }

    #[test]
    fn cpu_time_has_its_column() {
        let mut wall = 0;
        let mut cpu = 0;
        let mut timing = Timing::with_clock(move || {
            wall += 4;
            Duration::from_millis(wall)
        })
        .with_cpu(move || {
            cpu += 6;
            Duration::from_millis(cpu)
        });
        Bench::new("classify").run(&mut [&mut timing]).unwrap();
        assert_eq!(
            timing.report(),
            "   wall ms    share      cpu ms  pass\n    \
             12.000   100.0%      18.000  test\n     \
             4.000    33.3%       6.000    classify\n     \
             8.000    66.7%      12.000    (between passes)\n"
        );
    }

    #[test]
    fn a_failing_pass_is_timed() {
        let mut timing = Timing::new();
        Bench::new("classify,fail")
            .run(&mut [&mut timing])
            .unwrap_err();
        assert!(timing.report().contains("  fail\n"), "{}", timing.report());
        assert!(timing.total.wall > Duration::ZERO);
    }
}
