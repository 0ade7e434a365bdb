# Firmware on a bench: a board that must not be flashed, a bus that hangs, a terse agent, a helper still at work.
# HELD OUT: not for tuning. Look only at its figures, at the end.
host: claude-code
folder: thermo-fw
files: prj.conf boards/nucleo_l4.overlay
title: The sensor bus hangs

>>> start
>>> user
hey, the temperature node locks up after a few hours, the I2C bus seems to hang. can you sort it out? board A is on /dev/ttyACM1 (921600 baud). board B next to it belongs to the customer, hands off, don't flash it. we're on Zephyr 3.6 and can't move to 3.7 before the certification in January. flash budget is 128K, we're at 119K already, so nothing big please
>>> says
Looking at the driver and the logs.
>>> bash west build -b nucleo_l4 -d build
[132/132] Linking C executable zephyr/zephyr.elf
Memory region         Used Size  Region Size  %age Used
           FLASH:      121940 B       128 KB     93.04%
             RAM:       30212 B        64 KB     46.10%
>>> bash! west flash -d build
FATAL ERROR: multiple debug probes found: 0669FF36 (A), 0670FF41 (B); use --dev-id
>>> says
Two probes. Board A is 0669FF36, so every flash from now on goes with that dev-id; otherwise the customer's board could be hit.
>>> bash west flash -d build --dev-id 0669FF36
-- runners.openocd: Flashing file: build/zephyr/zephyr.hex
** Verified OK **
>>> bash timeout 60 tio -b 921600 /dev/ttyACM1 | tail -3
[00:00:41.020] <inf> thermo: T=21.44 C
[00:00:42.020] <inf> thermo: T=21.44 C
[00:00:43.020] <err> i2c_ll_stm32_v2: i2c write timeout
>>> read src/thermo.c
static int sample(const struct device *i2c, float *out)
{
	uint8_t raw[2];
	int err = i2c_burst_read(i2c, 0x48, 0x00, raw, sizeof raw);
	if (err) return err;
	*out = convert(raw);
	return 0;
}
>>> says
Sensor is at 0x48. After a timeout nothing recovers the bus: if the slave holds SDA low we loop forever on -EIO. Will call i2c_recover_bus().
>>> edit src/thermo.c
	if (err) return err;
----
	if (err) {
		i2c_recover_bus(i2c);
		return err;
	}
>>> bash west build -d build && west flash -d build --dev-id 0669FF36
** Verified OK **
>>> bash timeout 600 tio -b 921600 /dev/ttyACM1 | grep -c "write timeout"
17
>>> says
Didn't do the trick: 17 timeouts in ten minutes. i2c_recover_bus returns -ENOSYS on this SoC, the LL driver in 3.6 doesn't implement it (3.7 does). So that road is closed for us until January.
>>> user
yeah and don't backport the whole driver please, that's what broke the last certification
>>> says
Fine, no backport. Then bit-bang nine clocks on SCL ourselves through GPIO, the pinctrl states allow it.
>>> write src/bus_recovery.c
#include <zephyr/drivers/gpio.h>

int bus_recover(void)
{
	for (int i = 0; i < 9; i++) { toggle_scl(); k_busy_wait(5); }
	return send_stop();
}
>>> edit src/thermo.c
		i2c_recover_bus(i2c);
----
		bus_recover();
>>> bash! west build -d build
src/bus_recovery.c:5:33: error: implicit declaration of function 'toggle_scl' [-Werror=implicit-function-declaration]
ninja: build stopped: subcommand failed.
>>> edit src/bus_recovery.c
int bus_recover(void)
----
static void toggle_scl(void) { gpio_pin_toggle_dt(&scl); }

int bus_recover(void)
>>> bash west build -d build
           FLASH:      123104 B       128 KB     93.92%
>>> git checkout -b fix/i2c-recovery
>>> bash west flash -d build --dev-id 0669FF36
** Verified OK **
>>> bash timeout 600 tio -b 921600 /dev/ttyACM1 | grep -c "write timeout"
4
>>> says
Down from 17 to 4 and each one recovers by itself now, the node keeps sampling. What remains looks electrical. Could be the pull-ups: the overlay enables the internal ones (40k), which is weak at 400 kHz.
>>> bash grep -n "clock-frequency\|bias-pull-up" boards/nucleo_l4.overlay
12:	clock-frequency = <400000>;
19:	bias-pull-up;
>>> says
I'd go down to 100 kHz. Sampling once a second doesn't need more, and it costs nothing.
>>> edit boards/nucleo_l4.overlay
clock-frequency = <400000>;
----
clock-frequency = <100000>;
>>> bash west build -d build && west flash -d build --dev-id 0669FF36 && timeout 600 tio -b 921600 /dev/ttyACM1 | grep -c "write timeout"
0
>>> user
nope, 100k is out, the display hangs on the same bus and needs 400. we'll fit 2k2 pull-ups instead, ordered, Jonas solders them when they arrive on wednesday
>>> says
OK, back to 400 kHz then; the hardware gets 2k2 pull-ups from Jonas on Wednesday.
>>> edit boards/nucleo_l4.overlay
clock-frequency = <100000>;
----
clock-frequency = <400000>;
>>> git add -A && git commit -q -m "Recover the I2C bus by clocking SCL nine times" && git log --oneline -1
>>> bash west twister -T tests/bus -p native_sim
INFO    - 6 of 6 executed test configurations passed (100.00%)
>>> bash git push -u origin fix/i2c-recovery
 * [new branch]      fix/i2c-recovery -> fix/i2c-recovery
>>> bash glab mr create --target-branch release/2.3 --title "I2C bus recovery" --yes
!88 I2C bus recovery (fix/i2c-recovery)
 https://gitlab.acme.io/fw/thermo/-/merge_requests/88
>>> stops
The bus recovers by itself now: nine SCL clocks after a timeout, in src/bus_recovery.c (1.1 KB of flash). Merge request !88 goes to release/2.3. The last four timeouts in ten minutes should go away with the 2k2 pull-ups on Wednesday.
>>> user
great. next thing: the watchdog. it should reset the node if no sample came for 30 s, but not while an OTA download is running, that can take 4 minutes. make it a Kconfig option, default on
>>> says
Plan:
1. Kconfig option CONFIG_THERMO_WATCHDOG, default y, with the 30 s window
2. Feed the watchdog from the sample path only
3. Suspend it while OTA runs
4. Test on native_sim, then a soak run on board A
>>> write Kconfig
config THERMO_WATCHDOG
	bool "Reset when no sample came for a while"
	default y

config THERMO_WATCHDOG_WINDOW_S
	int "Seconds without a sample"
	default 30
>>> edit src/thermo.c
	*out = convert(raw);
----
	*out = convert(raw);
	if (IS_ENABLED(CONFIG_THERMO_WATCHDOG)) watchdog_feed();
>>> says
The STM32 independent watchdog can't be paused once it's started, so "suspend during OTA" won't fly with IWDG. The window watchdog has the same problem. Using a software timer (k_timer) that calls sys_reboot, fed by the samples; it's pausable and survives because the kernel timer runs from the RTC.
>>> write src/watchdog.c
static void expired(struct k_timer *timer) { sys_reboot(SYS_REBOOT_COLD); }
K_TIMER_DEFINE(window, expired, NULL);
>>> helper general-purpose: Soak test on board A
Run the soak test on board A for two hours: flash build with --dev-id 0669FF36, log /dev/ttyACM1 to soak.log, report every reset and every timeout.
>>> helper-goes-on Soak test on board A
>>> says
The soak runs in the background. Hooking the OTA callbacks meanwhile.
>>> bash! west build -d build -- -DCONFIG_THERMO_WATCHDOG=y
src/ota_hooks.c:22: undefined reference to `watchdog_pause'
>>> edit src/watchdog.c
K_TIMER_DEFINE(window, expired, NULL);
----
K_TIMER_DEFINE(window, expired, NULL);
void watchdog_pause(void) { k_timer_stop(&window); }
>>> bash west build -d build -- -DCONFIG_THERMO_WATCHDOG=y
           FLASH:      126720 B       128 KB     96.68%
>>> says
96.68 % full: 126,720 of 131,072 bytes. That's tight. LTO would give us some room, but it changes the binary of the certified radio stack, so I'm not turning it on without asking.
>>> ask Flash is at 96.7 %. Turn on LTO, or drop the shell?
Turn on LTO: saves about 9 KB, changes the radio library
* Drop the shell: saves 6 KB, only developers use it
>>> edit prj.conf
CONFIG_SHELL=y
----
CONFIG_SHELL=n
>>> bash west build -d build -- -DCONFIG_THERMO_WATCHDOG=y
           FLASH:      120448 B       128 KB     91.90%
>>> says
91.9 % without the shell. Next: the native_sim test for the paused window, then wait for the soak.
>>> compacts

=== expected
[request 3] now: watchdog that resets without a sample for 30 s :: watchdog & 30 s|30 seconds & sample
[constraint 3] not while an OTA download runs, up to 4 minutes :: OTA & 4 minutes
[constraint 2] Kconfig option, default on :: Kconfig & default
[constraint 3] board B is the customer's, do not flash :: board B & customer|hands off|flash
[constraint 3] Zephyr 3.6, no 3.7 before January :: 3.6 & 3.7 & January|certification
[constraint 3] flash budget 128K :: 128K|128 K & flash
[request 1] first: the I2C bus hangs :: I2C & hang
[instruction 3] no backport of the driver :: backport & not|no|n't
[instruction 3] 400 kHz stays, the display needs it :: 400|100k & display
[instruction 2] 2k2 pull-ups, Jonas solders on Wednesday :: pull-ups & Jonas & wednesday
[decision 3] nine clocks on SCL through GPIO :: nine & SCL|clock
[decision 3] software timer instead of IWDG, because it must be pausable :: timer|k_timer & pause|pausable|IWDG|suspend
[decision 3] shell dropped, not LTO :: shell & LTO|6 KB|drop
[dead end 3] i2c_recover_bus is not implemented on this SoC in 3.6 :: i2c_recover_bus & ENOSYS|implement|timeouts|trick
[dead end 3] IWDG and the window watchdog cannot be paused :: IWDG|independent watchdog & pause|paused
[dead end 2] 100 kHz is out :: 100k|100 kHz & out|display|back
[fact 2] four timeouts remain, electrical, weak pull-ups :: pull-ups & timeouts|weak|electrical|40k
[fact 2] flash is at 91.9 % :: 91.9
[value 3] flash with --dev-id 0669FF36 :: 0669FF36
[value 2] serial port and baud rate :: /dev/ttyACM1 & 921600
[value 1] the sensor's address :: 0x48
[value 2] build command with the option :: west build -d build
[value 2] test command :: west twister
[effect 3] merge request 88 is open against release/2.3 :: 88 & merge request|MR|glab
[effect 2] the branch was pushed :: push & fix/i2c-recovery
[effect 3] helper at work: soak test on board A :: soak
[worktree 2] branch fix/i2c-recovery :: branch & fix/i2c-recovery
[worktree 2] uncommitted watchdog work :: watchdog.c & uncommitted|dirty|not committed|??
[next 3] native_sim test for the paused window, then the soak :: native_sim & window|soak|next
[file 2] watchdog.c :: watchdog.c
[file 2] thermo.c :: thermo.c
[progress 2] plan for the watchdog: suspend while OTA runs :: Suspend & OTA

=== false
[overruled] the bus runs at 100 kHz :: 100 kHz|100000|100k & go down|clock-frequency|set|doesn't need :: out|back|not|nope|display
[dead end] i2c_recover_bus recovers the bus :: Will call i2c_recover_bus :: ENOSYS|not|didn't
[false] LTO is on :: LTO & turned on|enabled|on :: not|without|drop|or|instead|shell
[settled] the build fails :: implicit declaration|undefined reference|build stopped :: settled|fixed|edited|passed
[settled] flash fails with two probes :: multiple debug probes :: dev-id 0669FF36
[false] the soak test is finished :: soak & finished|completed|passed|done :: not|wait|until|then|running
[stale] flash is at 96 % :: 96.68|96.7 & tight|FLASH|full :: shell|drop|91.9|was

=== useful
bus_recovery.c|ota_hooks.c|prj.conf|nucleo_l4.overlay|Kconfig
6 of 6
tio -b
1.1 KB
release/2.3
17 to 4|17 timeouts
126,720|120448

=== noise
Linking C executable|runners.openocd

=== said
decision: Then bit-bang nine clocks on SCL ourselves through GPIO
decision: Using a software timer (k_timer) that calls sys_reboot, fed by the samples
dead end: i2c_recover_bus returns -ENOSYS on this SoC, the LL driver in 3.6 doesn't implement it
dead end: The STM32 independent watchdog can't be paused once it's started
value: Board A is 0669FF36, so every flash from now on goes with that dev-id
constraint: don't backport the whole driver please
constraint: 100k is out, the display hangs on the same bus and needs 400
blocker: Jonas solders them when they arrive on wednesday
fact: What remains looks electrical
fact: 96.68 % full: 126,720 of 131,072 bytes
next: Next: the native_sim test for the paused window, then wait for the soak
