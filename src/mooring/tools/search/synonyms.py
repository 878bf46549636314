"""What people say and what tools call it, by field. Plain tables; an underscore joins the words of a phrase.

A line goes on where the next one is indented. Phrases are known by their words in any order, and without words such as
`the` and `my`.
"""

ACTIONS = """
# Making and unmaking
create make build register compose draft ~ new add insert generate write post put open init provision set : begin
    produce prepare set_up put_together come_up_with spin_up craft establish raise start_new stand_up one_more another
    invent whip_up lay_out place bring_into bootstrap scaffold introduce include book schedule report_bug
    report_problem
open ~ create : file_bug file_ticket file_issue raise_ticket raise_issue open_ticket report_bug report_problem log_bug
    log_ticket start_ticket file_complaint
add attach include ~ append insert put push : tack_on stick_into stick_on throw_in put_into put_onto put_in put_on
    slip_in drop_in place_in enter_into one_more plus extra additional
delete drop erase destroy purge clear discard trash uninstall cleanup wipe ~ remove : get_rid rid throw_away throw_out
    bin scrap nuke kill take_off take_out take_away strip scrub dump no_longer_need not_need not_want anymore any_more
    toss ditch zap forget eliminate dispose lose shred tear_down clean_up clean_out clean empty out_of_way take_down
    clear_out blow_away axe unwanted obsolete for_good gone vanish make_disappear cancel take_back unlearn unsay
    forget_what forget_about
clear reset flush empty clean cleanup purge : wipe blank start_over from_scratch start_afresh clean_slate tidy tidy_up
update edit modify patch alter adjust rewrite upsert amend manage ~ change set put : correct revise fix_typo
    fix_mistake fix tweak touch_up rework make_it_say mistake typo refresh bring_up_to_date make_change overhaul
    reword rephrase rename retitle put_right turn_into should_be should_say
rename name title : call_it called give_name give_another_name new_name retitle different_name another_name
    change_name rechristen relabel be_called should_be_called other_name new_title
replace substitute swap exchange overwrite : switch_out instead_of put_in_place change_every find_and_replace
    everywhere change_all in_place_of
copy duplicate clone replicate fork : make_copy second_version same_again another_copy twin carbon_copy xerox copy_of
    own_copy reproduce one_just_like
move transfer relocate shift reparent : drag put_under put_elsewhere put_somewhere_else another_place different_place
    other_folder another_folder take_to shove bring_over belongs_in put_into migrate reassign_to push_back reorganize
    rename
merge combine join consolidate : unite fuse bring_together put_together blend one_out_of make_one bring_into
    get_into_main land land_in mash squash make_one_out
split separate isolate divide ~ extract : break_apart tear_apart take_apart break_up break_down pull_apart strip
append extend ~ add : continue add_to_end at_end at_bottom to_end end_of tack_on jot_at_end
insert ~ add : put_between put_before put_after in_between squeeze_in
# Reading and asking
list enumerate all show ~ get index catalog : overview browse what display show_all what_are what_all everything every
    full_list see_all which_ones what_kind what_do_we_have what_have_we_got do_we_have do_i_have have_we there_are
    are_there is_there what_exist available run_through go_through rundown inventory name_all give_me_all which exist
get fetch retrieve view show load describe inspect ~ read info detail : look tell_me what what_is what_does what_do
    check obtain give_me show_me pull_up bring_up let_me_see open take_look have_look look_at look_up look_into
    find_out learn_about tell_about more_about let_me_read hand_me grab whats check_out dig_out display peek glance
    examine study which consult
read ~ get content text : what_does_it_say what_does_say say what_is_in what_is_inside what_stands_in written go_over
    word_for_word let_me_read contents_of read_through skim peruse give_me_text text_of
describe explain ~ info detail summary get : what_is what_kind what_does_it_mean tell_me_about all_about more_about
    ins_and_outs details_of particulars everything_about know_about background_on facts_about what_exactly
search find lookup discover ~ query filter : look_for look_up seek locate hunt track_down where_is where_are where_did
    dig_up dig_out come_across somewhere google spot which_one mention mentions mentioned anything_about anything_on
    something_about contain containing talk_about i_remember what_was_that root_out hunt_down scan_for scour turn_up
    sift grep look_something_up search_through where_in where_do_they which_ones_are find_out_online find_out
query execute sql ~ run search : ask interrogate select
count total ~ number size stats : how_many how_much number_of amount tally quantity add_up
check verify validate ~ test status : whether see_if find_out_if make_sure ensure confirm_that double_check any_good
    okay_to all_right valid legal sound sane is_valid problem_with wrong_with mistake_in
validate lint verify ~ check test : is_it_correct is_it_valid prove syntax sound well_formed any_mistake any_error
    before_i_commit spell_check go_through_for_mistakes check_for_errors
compare difference ~ diff : changed what_changed side_by_side versus vs against differ different_between
    what_is_different between contrast how_do_they_differ what_is_new next_to_each_other beside_each_other
    hold_against put_next slower_than faster_than better_than
explain why ~ plan analyze : how_come reason root_cause figure_out understand make_sense what_went_wrong what_caused
    what_broke how_does_it_work
analyze analyse insight inspect evaluate assess audit analysis : examine study figure_out look_closely dig_into
    break_down what_is_wrong make_sense_of work_out assess investigate go_over
summarize abstract overview ~ summary extract : gist tl_dr tldr in_short in_brief short_version nutshell main_points
    key_points boil_down sum_up recap in_few_words in_nutshell brief condense shorten digest highlights essence
    what_it_boils quick_version
estimate calculate compute ~ analyze : work_out figure_out reckon how_much_would
calculate compute evaluate sum math eval : work_out add_up what_is_the_result do_the_math solve reckon
recommend suggest propose advise : should_i what_would_you advice tips ideas good_idea best_way what_should
    recommendation best_practice what_else
# Sending and sharing
send publish deliver reply ~ post message write : tell let_know inform drop_line shoot write_to ping get_word_to
    pass_on say say_to say_in shout mention dispatch tell_everyone give_heads_up heads_up text_to mail_to send_off
    send_over send_out put_out announce tell_that notify
post publish announce broadcast send : put_online make_public go_live put_out release_to_public tell_everyone
    spread_word share_with_everyone shout
reply answer respond ~ comment thread : write_back get_back_to react_to respond_to answer_back say_something_back
    chime_in
forward pass relay redirect : pass_on send_on pass_along hand_on send_along
share access grant invite ~ permission : give_access let_see let_open let_edit let_anyone anyone_with_link
    make_available open_up open_to with_others let_others give_rights can_see who_can who_may allow_in make_public
    hand_out make_visible several_share
notify notification subscribe ~ alert : let_me_know tell_me_when tell_me_if warn_me ping_me remind inform
subscribe watch monitor follow observe listen : keep_eye keep_me_posted let_me_know tell_me_when tell_me_if keep_track
    keep_up stay_on_top stay_informed stay_up_to_date hear_about get_notified notify_me keep_posted in_the_loop
    keep_informed look_out_for track
unsubscribe unwatch unfollow ~ remove : stop_following stop_watching not_interested not_want_to_hear stop_telling
    no_more_news no_more_notification opt_out leave_me_alone stop_getting stop_notif
invite ~ add member : bring_in ask_to_join let_in bring_on_board get_on_board
assign delegate owner assignee : hand_over give_to hand_to responsible put_in_charge who_should in_charge take_over
    pass_to let_do make_responsible put_on give hand
# Running and stopping
run execute launch trigger invoke perform call ~ start : kick_off set_off fire fire_off get_going go_ahead carry_out
    do_it begin set_in_motion fire_up let_rip
start begin launch session ~ open create : fire_up boot boot_up bring_up get_going begin start_up turn_on set_off
rerun retry restart again ~ run : once_more another_go try_again one_more_time repeat do_over again_from
    have_another_go give_another
restart reboot reload ~ rollout : bounce turn_off_and_on kick recycle start_again fresh_start
stop cancel terminate end abort halt quit disconnect ~ close : kill shut shut_down call_off break_off put_end
    no_longer enough finish turn_off done_with i_am_done not_needed give_up put_stop pull_plug drop never_mind
    knock_off interrupt
close finish complete resolve done quit shut : mark_as_done wrap_up sort_out sorted settle settled fixed taken_care
    is_done finish_off get_done tick_off cross_off check_off dealt_with solved handled tick over_with
pause wait sleep until suspend hold : give_it_moment hang_on hold_on stand_by till as_long_as let_it_finish sit_tight
open launch navigate goto visit : go_to bring_up pull_up head_over take_me surf_to get_me_to load
connect attach associate join ~ link relate : tie_together tie_to hook_up hook_to belong_together wire_up pair bind
    hang_together hang_on put_together glue chain
disconnect unlink detach ~ remove : cut_off break_connection untie unhook not_belong cut_link separate log_off
enable activate turn_on ~ toggle switch set : switch_on make_active put_on light_up start_using turn_on flip
disable deactivate turn_off ~ toggle switch : switch_off shut_off turn_off put_out block
toggle flip enable disable ~ switch : turn_on_or_off back_and_forth on_off switch_on switch_off
switch active checkout ~ select change : go_over_to change_to move_over work_on use_other jump_to hop use_another
    change_over make_current
use pick choose ~ apply select : go_with opt_for take decide
# Moving data
upload attach import ~ push add put : send_up put_up hang_on stick_on bring_in load_up send_over enclose supply
    hand_in submit
download fetch pull ~ export save get : get_onto_disk onto_my_disk to_my_computer to_my_machine to_disk keep_local
    get_hold copy_to_my store_locally grab off_server take_home local_copy get_out pull_down save_locally give_me_back
    hand_me_back
export dump ~ download save convert : get_out take_out get_out_of write_out spit_out as_file out_as hand_out
import load parse ~ upload create : bring_in read_in pull_in take_in bring_over slurp feed_in
save store keep persist ~ write put set : remember put_away hold_on_to write_down note_down for_later stash put_aside
    keep_for_later tuck_away retain park keep_for remember_under
restore recover revert undo rollback reset : roll_back go_back back_out bring_back take_back put_back turn_back
    return_to get_back step_back unwind rewind undelete previous_state earlier_state how_it_was as_it_was
backup dump ~ snapshot export save : safety_copy copy_in_case just_in_case safe_copy back_up put_in_safe
archive shelve ~ close : put_away store_away file_away out_of_sight mothball retire out_of_my_way put_in_attic stow
    get_out_of_way
sync synchronize pull match mirror ~ update : up_to_date bring_in_line keep_in_step same_as catch_up in_step line_up
    bring_up_to_date
convert transform translate ~ change : turn_into make_into change_into into_another in_form_of to_format rendered_as
    switch_format
translate language ~ convert : in_english into_german into_english into_french in_another_language
    what_does_it_mean_in put_into_english
parse ~ extract read analyze : make_sense_of take_apart pull_out get_out_of
extract scrape parse pull ~ get : pull_out get_out take_out lift_from draw_out pick_out fish_out get_out_of
sort order arrange rank position : put_in_order alphabetical alphabetically by_date from_a_to_z highest_first
    largest_first newest_first smallest line_up reorder
filter where ~ search query : only_those only_show narrow_down leave_out just_the_ones with_certain limited_to
    pick_out
group aggregate category : lump_together by_kind bundle sort_into bring_together put_into_groups group_by
format style ~ design apply layout : make_pretty look_nice pretty look prettier good_looking beautify how_it_looks
    looks make_look nicer appearance dress_up spruce
resize width scale fit ~ size : bigger smaller larger wider narrower how_wide shrink grow stretch make_bigger
    make_smaller make_wider enlarge dimension
scale replica resize : more_instances more_copies bigger smaller grow shrink how_many_copies number_of_copies
    more_capacity beef_up dial_up add_more_instances handle_more_load more_of
install deploy setup helm ~ add apply : set_up get_onto put_onto put_on get_running
uninstall ~ remove delete : take_off get_rid no_longer_want throw_off
upgrade bump newer ~ update version : newer_version latest_version bring_up_to_date move_to_newer step_up
deploy publish ship ~ release rollout apply : go_live put_live put_online push_to_production roll_out
    put_into_production get_out get_live bring_online
approve accept confirm review sign_off : say_yes ok okay agree give_go_ahead thumbs_up go_ahead green_light looks_good
    lgtm give_blessing wave_through rubber_stamp fine_by_me let_through
reject decline deny refuse unapprove dismiss : say_no turn_down not_agree withdraw_approval take_back_approval
    take_back_ok change_my_mind
review feedback approve ~ comment : go_over look_over what_do_you_think opinion second_pair_of_eyes critique
    give_thoughts
protect lock secure password ~ restrict : nobody_can no_one_can only_allow keep_out guard forbid prevent keep_from
    so_nobody safe_from shield must_not read_only keep_people
unprotect unlock ~ remove : let_again lift_protection take_off_lock open_again lift_the_lock
restrict limit constrain ~ permission allow : only_let only_certain keep_out allow_only who_may forbid validation
    permit only_permit
login auth authenticate authorize sign_in token ~ connect : log_in log_on sign_on get_in identify credentials
    log_me_in sign_me_in let_me_in prove_who_i_am
logout disconnect sign_out : log_out sign_off log_off
optimize improve tune recommend ~ performance : better make_faster speed_up polish enhance get_more_out
schedule book ~ plan event set : arrange plan_for set_time pencil_in slot put_in_diary fix_date
transition workflow ~ move status update : move_along to_done in_progress push_forward next_step move_forward
    take_to_next advance progress
highlight color emphasize ~ mark format : stress stand_out make_bold pick_out accentuate underline paint mark_yellow
mark ~ set flag update label : tick flag_as treat_as consider_as
play listen ~ audio : hear let_me_hear put_on blast
record capture ~ start log : film tape take_down note_down write_down
simulate mock emulate fake stub : pretend imitate as_if act_as_if make_believe act_like look_like dummy stand_in
    role_play try_out_without
trigger operation ~ run : set_off cause
activate enable discover : make_usable unlock
reserve allocate book claim : borrow get_hold set_aside put_aside hold check_out take_for_me
release free return unreserve : give_back hand_back let_go no_longer_need
batch bulk multiple many several : at_once all_at_once in_one_go together one_go same_time lots_of bunch whole_bunch
    dozen couple_of hundred several_at_once ten in_one_sweep mass en_masse handful
resolve discussion ~ thread close : sorted settled dealt_with has_been_addressed
increase raise increment : more bump_up higher turn_up
decrease reduce lower : less turn_down fewer cut_down
think reason thought sequentialthinking sequential : ponder mull work_through step_by_step reason_through
    think_through puzzle think_hard
"""
"""Things to do, a line for each: `names ~ related : sayings`. The names are what tools call it, the best first; what is
related is weaker evidence of it; the sayings are other ways in which people put it."""

THINGS = """
# People, teams and rights
user person people ~ member account profile users username author : who somebody someone colleague coworker teammate
    employee guy folks staff contact anyone everyone human role
whoami self authenticated user_info current_user ~ profile : who_am_i my_account my_own_account logged_in_as
    which_account signed_in_as my_login am_i_logged own_profile my_details who_i_am account_am_i
profile ~ user detail : about_person who_is job_title his_details her_details contact_details
member team ~ group board : belongs_to who_is_on who_is_in take_part participant who_works on_the_team belong
    in_my_team people_on people_in assignee
assignee assignable owner assign : responsible who_could who_can_take who_could_take in_charge
author creator comments_by writer : who_wrote written_by who_made by_whom person_who_wrote person
blame ~ author commit : who_wrote who_changed who_touched who_broke who_is_to_blame which_person line_by_line
    who_last_edited who_did_it person_responsible_for_line last_touched wrote
team organization workspace department namespace org ~ group tenant : staff crew squad company firm outfit
    organisation
role access ~ permission : rights who_may admin allowed_to
permission access share acl ~ restriction : who_can_see who_can_read who_can_edit who_may who_has_access allowed_to
    right rights privilege may_see may_open may_i am_i_allowed can_i visible_to private who_is_able
public shareable visibility everyone : anyone everybody whole_world open_to_all the_public outsiders strangers
    visible_to_everyone open
password secret credential protect encrypt : passphrase passcode locked
token credential secret auth ~ key : api_key access_key pat
login session sign_in : log_in
customer client contact lead company deal crm hubspot : account buyer prospect shopper patron business
    sales_opportunity clients person_we_sell
recipient sender allowlist ~ address allowed : to_whom receiver addressee who_may_i_write_to write_to from_whom
audit who_did activity ~ log history : who_did_what paper_trail track_record who_changed who_flipped who_touched trail
    who_did
# Code hosting and git
pull_request merge_request pr mr change_request ~ github gitlab : my_changes proposed_change code_review proposal
    contribution patch_of changeset
repository repo codebase ~ project github gitlab git : source_code code_base sources
git ~ repository commit : version_control source_control working_copy
github gitlab ~ repository git : code_host code_hosting forge
branch ~ git checkout : main_line trunk line_of_development feature_line main develop line_of_work side_line
default ~ branch : main_branch trunk_instead
commit changeset revision ~ git log : check_in checked_in checked change_set submitted_change committed what_went_in
commit ~ save record : check_in put_on_record
log ~ history commit git : what_has_been_done lately what_happened so_far past_changes who_did_what recently
diff difference compare patch ~ change : what_changed what_is_different altered what_did_i_change changed_lines
    what_would_change touched
unstaged working uncommitted ~ diff git status : not_yet_added not_added not_staged not_yet unsaved_changes
    in_my_working_copy not_yet_staged havent_added working_tree modified
staged ~ index diff add git : about_to_be_committed going_to_commit will_go_in ready_to_commit next_commit commit_next
    about_to_commit am_i_about_to_commit ready
stage ~ add index git : include_in_next_commit mark_for_commit queue_for_commit
status condition phase progress ~ state health : how_is how_are how_does_it_stand how_did how_far_along
    where_do_we_stand how_stand is_it_done still_running finished_yet ready_yet how_is_it_going how_goes went_through
    did_it_work passed is_it_finished done_yet come_out ok_or_not under_way where_does_it_stand
conflict clash ~ merge : collide fight_with cannot_be_merged stand_in_way
review approval feedback reviewer : opinion verdict thoughts_on_my_code said_about what_do_reviewers
approval approve ~ state : signed_off who_approved agreed who_said_yes how_many_approvals
fork repository ~ copy : own_copy my_own_version spin_off
clone ~ copy : replicate
tag ~ release version label : numbered_version
release milestone ~ version tag deploy : shipped shipment out_there what_is_out
blob ~ file content : raw_contents
tree structure hierarchy nested outline ~ directory : laid_out how_is_it_organised organised organized nesting
    layout_of_folders skeleton map_of
protected protect ~ branch : nobody_may_push locked_branch cannot_push force_push
code script program snippet function ~ source : programming software routine implementation
snippet gist ~ code : piece_of_code fragment
webhook callback hook : notify_url incoming_hook post_from_outside
lint validate ci config yaml : check_config check_pipeline_file mistakes_in_yaml
wiki ~ page confluence notion : knowledge_base handbook team_docs intranet wikipedia encyclopedia article notion
# Issues and planning
issue ticket bug story defect ~ task request jira linear github gitlab tracker : problem complaint work_item to_do
    piece_of_work trouble bug_report glitch job_to_do assignment report_bug file_bug file_ticket file_issue
    raise_ticket raise_issue open_ticket report_problem log_bug log_ticket tracker
todo done checklist ~ task : to_do to_dos things_to_do still_to_do pending_item errands on_my_list what_is_left chores
comment remark discussion reply ~ note annotation : said opinion thoughts say_something feedback on_the_side
    what_did_they_say wrote_about talk_about sentence_on observation what_i_said i_said
discussion ~ thread conversation comment note : talk back_and_forth debate exchange argument talked_about chat_about
draft unpublished pending : not_yet_sent unfinished rough_version not_yet_published half_finished preliminary
label category ~ tag color : sticker coloured_mark classify sort_of coloured_sticker colour_code keyword badge marker
milestone goal target deadline : due_by landmark stage_goal big_step checkpoint
epic initiative parent : big_story umbrella larger_piece big_topic
sprint iteration agile ~ board : two_weeks cycle fortnight current_round timebox this_round work_period
backlog later someday : pile not_now postpone for_later put_off push_back wait_list
board kanban ~ list trello jira agile : wall task_wall work_wall
card ticket ~ item trello : sticky post_it
list lane ~ column trello board : stack pile
checklist todo ~ item trello : tick_list steps_to_tick to_do_list points_to_tick things_to_tick tick tick_off
acceptance criteria checklist : definition_of_done when_is_it_done must_be_met conditions_for_done
watcher follower watch : who_follows who_is_following keeps_eye interested_people
worklog time_spent hour timesheet time_tracking : how_much_time how_many_hours put_in_hours book_hours log_hours
    worked_on hours_spent spent_hours time_i_spent clocked time_spent spent
sla response_time deadline : in_time on_time promised_time too_late breach promise_to_customer
dependency blocker ~ block link relate : waiting_for waits_for holds_up stand_in_way held_up depends_on in_way_of
    stuck_on blocked_by
link issue_link ~ relation connection dependency : tied_together connected belong_together hang_together related_to
    linked
priority severity urgency : how_urgent important how_bad
due date deadline : by_when until_when when_must when_is_it_due
transition workflow ~ status : which_states next_states can_i_move possible_moves where_can_it_go allowed_moves
changelog ~ history change version : what_happened_to who_changed_it past_changes what_was_done how_it_came
history past previous timeline revision ~ version change log : earlier over_time former used_to_be what_happened
    in_the_past story_of old_versions back_then who_edited_when how_it_used evolution
version revision ~ release : edition build_number
component module part ~ project : building_block piece
service_desk desk queue ~ customer request : help_desk helpdesk support_portal support_team user_support hotline
queue ~ line request desk : waiting_list who_is_waiting in_line
form proforma answer ~ field : questionnaire survey what_they_filled_in
custom ~ field property : own_field extra_field special_field additional_info our_own
field attribute option ~ property column : slot piece_of_information what_can_i_fill_in input value_of
option value choice ~ allowed : possible_values what_can_i_choose choices can_i_pick dropdown_values permitted_values
    valid_values pick_from alternatives
project workspace ~ team : undertaking endeavour
member_of ~ board : who_is_on
activity recent feed action ~ event history : happened lately going_on what_has_been_going what_has_happened
    what_is_new recently_done what_did_people_do been_up_to news_about busy_with
roadmap milestone ~ plan project : what_is_coming future_plans
estimate point story ~ size : effort
# Builds, releases, flags
pipeline workflow build ci ~ job run circleci : continuous_integration checks automated_build green red
build compile ~ job ci pipeline : make
job step ~ task pipeline : run
failure fail error failed crash exception ~ log : broken broke went_wrong goes_wrong red blew_up why_is_it_red trouble
    bug_out not_work does_not_work fell_over what_happened choke bombed turned_red blow_up wrong problem_in
test result ~ spec ci : check trial suite passed
flaky unreliable ~ test : unstable intermittent random sometimes_fail now_and_then on_and_off come_and_go sometimes
    green_and_sometimes fail_sometimes
artifact output result binary ~ file : what_it_produced built_files what_came_out by_product
rollback revert previous pipeline ~ version : go_back undo_the_release earlier_version last_good back_to_previous
    older_version
deployment deploy live ~ rollout release site netlify vercel hosting : go_live put_online published in_production ship
    hosting
environment env variable staging production ~ setting : dev_prod surroundings system_variables
variation variant : version_of alternative flavour flavor option
targeting audience percentage ~ rollout rule : who_gets who_sees which_users half_of_users percent_of_users
    part_of_the_users share_of_users percent
experiment variant ~ test : a_b_test try_out
config configuration option preference ~ setting : how_is_it_set_up set_up_file settings_of set_up
plugin extension addon : add_on module
package dependency module framework ~ library npm pip : lib third_party
library documentation package framework ~ docs context7 : how_do_i_use how_to_use usage_of
documentation guide manual reference help ~ docs doc : how_does_it_work instructions how_to explained tutorial
    handbook best_practices how_do_i read_up official_text learn_how cheat_sheet syntax
example sample snippet ~ code : show_me_how
# Databases
database db sql ~ data postgres mysql sqlite clickhouse mongodb : data_store base data_base postgres mongodb
    clickhouse
table base ~ relation : grid sheet
schema structure ~ column table mapping : shape what_columns which_columns which_fields what_fields how_is_it_built
    what_does_it_look_like data_types built_up made_up how_is_it_structured layout_of
column ~ field property : attribute
row ~ record entry document item line : line_of entries data_set
record ~ row entry object : data_set entry_in
collection ~ mongodb : set
document ~ record object mongodb elasticsearch : entry
index indices ~ indexes lookup : make_lookup_faster speed_up_queries quicker_lookups slow_query lookups_faster
    search_faster lookup fast faster what_can_i_search
query sql statement ~ select postgres database : question_to_database ask_the_data ask_database pull_numbers
aggregate sum average total statistic ~ group : per_month per_customer on_average by_group breakdown crunch roll_up
    per_user per_country
explain ~ plan performance query : why_is_query_slow slow_query how_would_it_run what_would_the_database_do
storage space disk ~ size stats : how_big how_much_space takes_up disk_space how_large room gigabytes
stats statistics ~ info metric : numbers figures key_figures
count length ~ number size : how_many
connection client ~ connect : who_is_connected attached hooked_up link
key value ~ entry redis : stored_under name_of_value
cache redis ~ key : cached in_memory_store remembered key_value
expire ttl expiration timeout lifetime : run_out self_destruct vanish_after die_after how_long_valid only_keep_for
    disappear_after after_an_hour forget_after time_limit go_stale goes_away lapse minutes_from_now
hash dictionary ~ map field redis : object_with_fields mapping
list queue lpush rpush lrange ~ redis : waiting_line front_of back_of
pop lpop rpop ~ remove : take_first take_last take_next take_from_front take_from_end next_in_line
push lpush rpush ~ append : put_at_front put_at_end line_up
set sadd smembers ~ member redis : unique_values belongs_to
sorted_set zadd zrange zset score rank : ranking leaderboard high_score top_players scoreboard highscore
stream xadd xrange xreadgroup ~ redis : event_log feed flow
publish subscribe ~ channel message redis : pub_sub
vector embedding similarity semantic : nearest_neighbours similar_meaning like_this_one nearest alike similar
semantic similarity vector ~ related : by_meaning similar_in_meaning same_idea not_exact_words alike
full_text ~ search text : whole_text free_text
shard replica ~ node elasticsearch : piece_of_index
mapping schema ~ field elasticsearch : which_fields
graph ~ node relation entity neo4j memory : network
cypher neo4j ~ graph node : graph_database connected_data
migration schema ~ convert : move_over
dynamodb aws ~ database : amazon_database
access_layer ~ code generate : data_classes
# Cloud, containers, kubernetes
kubernetes cluster ~ kubectl k8s pod node helm : k8 our_machines
pod container ~ kubernetes docker : instance
container docker ~ image pod : box
node machine ~ server cluster kubernetes : host box computer
drain cordon node_management maintenance : empty_node no_new_work out_of_service take_out_of_rotation
helm ~ chart release kubernetes : packaged_release package_of_manifests packaged
manifest yaml ~ apply resource kubernetes : definition_file
deployment replica ~ rollout kubernetes : running_version
context cluster ~ kubectl kubernetes : which_cluster other_cluster different_cluster
port port_forward forward tunnel : reach_locally from_my_laptop localhost make_reachable on_my_own_machine local
exec command shell terminal ~ run pod : type_command inside_container command_line inside_pod go_into console
namespace ~ kubernetes group : corner compartment
logs output console ~ log message stdout : what_did_it_write what_is_it_saying printed what_it_says what_did_it_print
    tail wrote journal stdout console trace
resource kind ~ api : thing what_kinds
ping connectivity alive ~ health check : is_it_up is_alive reachable responding still_there can_we_reach is_it_running
    answers up_and_running are_you_there still_alive up_or_down on_its_feet can_it_be_reached
health ~ check status : is_everything_ok all_right doing_well fine healthy is_all_well in_good_shape ill sick running
    up
aws amazon cloud : web_services
bucket s3 storage ~ object : file_store blob
lambda function serverless : cloud_function
instance vm ec2 machine ~ server : virtual_machine
cost price billing credit subscription spend ~ usage : how_much_does how_much_did expensive how_much_money
    what_does_it_cost pay charge bill cheap fees what_would_it_cost
usage credit quota limit subscription ~ account : how_much_left how_much_have_i_used used_up what_is_left
    how_many_left remaining budget run_out how_much_can_i_still plan_am_i_on allowance consumption still_have_left cpu
    machine quota size resource
network traffic http ~ request url : talk_to_server what_was_sent calls_to_server went_over_wire behind_the_scenes
    sent_to_server loaded_from requests talk_to went_over what_did_download
dns domain : web_name
certificate ssl tls : https
secret vault : hidden_value
# Monitoring and incidents
metric measurement series prometheus promql : numbers reading measured cpu_load how_loaded how_busy load cpu gauge
    how_much_load utilization
prometheus promql ~ metric grafana cloudwatch : time_series
label value attribute ~ prometheus loki : dimension
histogram percentile quantile latency : p99 p95 how_long_do_requests slowest distribution
latency duration slow speed ~ performance : how_slow how_fast response_time takes_so_long sluggish delay lag
    waiting_time too_slow takes_forever fast faster quick
log loki ~ logs logging cloudwatch grafana : what_was_written error_messages lines_written what_did_it_write
pattern anomaly ~ analyze log : recurring what_stands_out unusual strange odd keeps_coming
trace span tempo distributed ~ request : path_of_request journey_of_request where_is_time_spent slow_request
    way_through_services hop
profile pyroscope flame cpu ~ profiling : where_does_cpu_go hot_function burn_cpu eating_cpu flame_graph cpu_time
    which_function
alert warning ~ alarm rule grafana cloudwatch alerting : goes_off went_off fires ringing rings beep red_light woke_me
    firing sounding incident page
alarm active ~ alert history : went_off fired
silence mute suppress ~ alerting alert : quiet shut_up stop_ringing no_alerts during_maintenance keep_quiet hush
    leave_me_in_peace not_be_woken maintenance
incident outage ~ grafana : downtime breakdown emergency went_down disaster is_down catastrophe service_is_down
oncall on_call schedule shift ~ user grafana pager : who_is_on_duty on_duty who_has_pager who_do_i_wake who_to_call
    duty standby who_gets_paged whose_turn wake_up pager
shift schedule oncall rota : when_am_i_on turn duty_roster
dashboard panel ~ grafana : board_of_graphs overview_screen graphs control_room screens board
panel ~ chart graph image dashboard : tile
annotation ~ note mark grafana : marker remark_on_graph mark_on_the_graph note_on_graph event_on_graph highlight
datasource data_source ~ source grafana : where_numbers_come_from where_data_comes_from get_their_data feeds
    comes_from get_their_numbers get_numbers_from where_numbers numbers_from
snapshot ~ dashboard : frozen_copy frozen_moment
deeplink ~ link url generate : address_to_share jump_straight direct_link shortcut_to
threshold limit ~ alert : too_high too_low over_limit
routing contact_point notification policy ~ alerting : who_gets_notified who_gets_told where_do_alerts_go who_is_told
error exception crash failure ~ issue sentry : stack_trace bug_in_production blows_up exceptions users_ran_into
    went_wrong_in_production
crash report ~ log : app_died fell_over froze died blew_up quit_unexpectedly shut_itself
sentry error ~ issue : error_tracker bug_tracker crash_tracker error_tracking
root_cause seer ~ analyze issue : why_does_it what_is_behind how_to_fix why_did_it what_caused figure_out_why why
    reason cause
event occurrence ~ log : happening incident
uptime availability ~ health : how_often_down
security vulnerability audit : hole unsafe attack weak_spot
# Files
file ~ document text path filesystem drive : paper doc
directory folder dir path : place_for_files inside_of
size disk ~ sizes : how_big how_large takes_most_space biggest heaviest big_are how_many_bytes
content body ~ contents text read : inside what_is_in what_stands what_does_it_say innards
path attachment ~ location : where_is_it_stored where_on_disk where_does_it_live
media binary ~ image audio file : picture_or_sound
multiple batch ~ files : several_files
allowed roots access ~ directories : where_may_i which_folders_can may_you_read am_i_allowed_to_read
edit patch replace ~ line : change_line
write ~ save file put : put_down set_down
compress gzip zip archive : make_smaller squeeze pack shrink zipped packed
attachment enclosure ~ file : attached hanging_on paperclip file_that_came file_in_mail what_was_attached
backup restore ~ snapshot : safety
drive cloud google_drive workspace ~ file : cloud_storage google_docs my_cloud g_drive
shortcut ~ link : jump
trash ~ delete : bin
recent latest newest last modified ~ changed : lately new_ones freshest last_few fresh what_is_new added_lately
    past_few_days since_yesterday this_week newly not_long_ago these_days current now recently
binary base64 ~ data : raw_bytes
# Web, browser, search
web internet online ~ search : net google world_wide www on_the_net
web_search internet ~ search web brave tavily exa : google look_it_up online find_on_the_net look_online
    ask_the_internet what_does_the_internet look_around_the_web google_something find_out_online who_won
news headline current_event ~ article : in_the_papers press what_happened_today latest_from
    what_is_happening_in_the_world newspaper reports_about headlines breaking
page webpage website ~ site url web : homepage address web_page internet_page link_address
url ~ address link page : web_address where_am_i which_page what_site where_does_it_point
fetch scrape ~ url page content extract web : get_page text_of_page read_this_site read_that_page what_is_on_this_site
scrape crawl firecrawl tavily ~ extract : rip harvest pull_content grab_page copy_from_site strip_text
    all_text_from_site content_of_site
crawl website ~ site map : whole_site entire_site all_pages every_page follow_links_through walk_through_site
    complete_website spider
map sitemap ~ url site firecrawl tavily : all_links which_pages_has what_pages every_address pages_there_are
    structure_of_site
research deep report investigate ~ agent : dig_deep in_depth thorough find_out_everything study background_check
    look_into_thoroughly long_answer dig
browser ~ page tab playwright chrome puppeteer browserbase : firefox safari surf web_window chrome playwright
tab ~ page browser select : window other_window open_windows
navigate goto ~ open url page : go_to visit surf_to take_me_to call_up bring_up head_to type_address
back navigate previous : go_back page_before last_page return_to one_page_back
click press tap button ~ push : hit touch choose_button finger hold
hover mouse : mouse_over point_at pointer_over without_clicking move_mouse rest_mouse cursor_over point
drag drop ~ move : pull_over drag_and_drop grab_and_drop pull_onto
type fill input ~ text key : enter write_into keyboard key_in put_text write_in_box
fill form input ~ field : fill_in fill_out enter_into complete_form put_my_name write_into_fields
select option dropdown choose : pick_from choose_from drop_down pick menu
swipe scroll : flick slide_finger further_down move_down_the_page wipe_over scroll_down
screenshot capture ~ snapshot image screen : picture_of photo_of_page photo_of_screen snap screen_grab screen_shot
    what_does_it_look_like show_me_the_screen what_is_on_screen what_do_you_see print_screen screen_capture
    what_can_be_seen looks_like photo shot
screen_recording screencast ~ recording record video screen : film_screen film_what video_of record_screen film
    video_of_screen movie_of tape_screen film_the record_video
snapshot accessibility ~ element page : elements_on_page what_can_i_click what_is_on_the_page page_structure
element ~ screen list : buttons_on what_can_i_tap what_is_shown which_buttons
dialog popup prompt confirm ~ alert : pop_up are_you_sure box_that_pops ok_cancel window_that_popped message_box
    javascript_box pops_up asks_me_to_confirm
console javascript ~ message log browser devtools : browser_errors developer_console javascript_errors
    what_was_printed printed devtools
evaluate script javascript ~ run code : run_js own_code some_javascript piece_of_script little_script
upload ~ file browser : give_file choose_file
wait wait_for until ~ text : until_it_appears till_shows finished_loading until_gone hold_on_until appears
resize window viewport ~ size : make_window smaller_window bigger_window narrow
emulate media viewport throttle ~ device mobile : pretend_to_be_phone slow_connection dark_mode slow_network
    as_on_phone how_it_looks_on_phone act_like_phone colour_scheme weak_signal print_view
performance insight speed lighthouse ~ trace : load_time page_speed why_is_page_slow how_fast_does_it_load
    loads_slowly takes_so_long
lighthouse audit accessibility seo score : quality_of_page how_good_is_site marks_for_site grade check_quality
heap memory heapsnapshot leak : ram eat_memory memory_hungry grows_and_grows
css style computed : appearance look which_font what_colour how_is_it_styled
session ~ browser start close : visit sitting
cookie storage session : remembered_login
proxy network : in_between
observe action ~ element : what_could_i_do possible_actions
act action perform click : do_something do_on_page
agent autonomous ~ task : bot robot assistant do_it_for_me on_its_own by_itself let_machine
image picture photo figure drawing icon illustration : pic graphic visual logo
video film movie clip : footage recording youtube
transcript subtitle caption youtube speech_to_text transcribe : what_is_said what_did_they_say spoken_words
    said_in_video text_of_video words_of_video what_do_they_say
youtube transcript ~ video : clip tube
place local restaurant shop business nearby search_places ~ location : cafe hotel venue around_here close_by near_me
    where_can_i_eat where_can_i_get pub pharmacy eat drink pizza coffee nearest in_the_neighbourhood in_the_area
    bakery grab_bite somewhere_to_eat close_to
opening_hours place ~ details : open_until when_does_it_open phone_number rating reviews is_it_open how_late
    closing_time
# Maps, weather, travel, time
direction route navigation travel ~ maps : way how_do_i_get way_to get_from_to drive walk_to path_from journey trip
    how_to_get by_car on_foot by_bike turn_by_turn get_there how_long
distance duration distance_matrix matrix travel : how_far how_long_to_drive how_long_does_it_take
    how_long_would_it_take drive_time miles kilometers kilometres away how_many_miles travel_time far_apart
    how_long_is_the_drive walking_time far how_long
geocode coordinate latitude longitude ~ address : where_is lat_long lat_lng position_of gps_of on_the_map whereabouts
    lat long where_on_earth exact_spot
reverse_geocode coordinate ~ address : which_address what_is_at street_name what_street what_place_is_this
    address_of_spot where_am_i what_is_here
elevation altitude height : how_high above_sea_level sea_level metres_up how_tall high
location gps coordinate position : place_where whereabouts spot pretend_to_be_in as_if_in fake_position latitude city
    town country
country region city place : town land nation
weather forecast temperature climate : rain sunny umbrella snow how_warm how_cold storm wind will_it_rain outside
    what_to_wear sunshine degrees hot_today
temperature climate thermostat heating sensor ~ state home weather entity : how_warm how_cold how_hot degrees warm
    cold chilly hot heat freezing cosy cool
time clock current_time date now : what_time_is_it hour o_clock how_late today what_day which_day how_late_is_it
timezone time_zone convert_time time : local_time over_there in_other_city in_tokyo in_new_york time_difference abroad
    what_time_is_it_in across_zones their_time
flight ticket travel : fly plane airline airport
hotel accommodation booking : stay room_for_night place_to_stay lodging
train bus transit transport : public_transport timetable
translation language : foreign
currency exchange rate ~ convert : dollars euros
# Mail, chat, calendar
email mail mailbox inbox imap ~ message : e_mail letter post_box electronic_letter mails write_to correspondence
mailbox folder imap ~ label : mail_folder inbox spam_folder box
unread ~ read flag mark email : seen not_yet_read new_mail opened have_read
draft ~ save email : not_send_yet unsent write_but_not_send send_later finish_later prepare_letter
flag star important ~ mark email : follow_up remember_to_answer come_back_to
spam junk : unwanted_mail
attachment ~ content download email : what_was_attached file_in_mail
message chat dm ~ text post slack discord telegram : word_to line_to note_to say_hi greet telegram
slack ~ channel message : work_chat company_chat
discord ~ channel server message : guild gamer_chat community_chat
channel room ~ conversation slack discord : chat_room group_chat place_to_talk general
thread reply ~ conversation slack : answers_under underneath below_message responses follow_up
forum ~ post thread discord : board topic discussion_board
reaction emoji ~ slack discord : smiley smileys thumbs_up heart like react_with party smile face applaud applause
    thumb little_face
history ~ message channel read : what_has_been_said what_was_said what_did_people_write last_messages catch_me_up
    missed conversation_so_far scroll_back talked_about what_did_i_miss
server guild ~ info discord : community
category ~ channel discord : section
calendar schedule agenda ~ event google : diary appointments planner
event meeting appointment calendar : date get_together call_with lunch sit_down session_with engagement party
    gathering what_is_on what_do_i_have_on on_my_schedule what_have_i_got_on tomorrow today friday monday this_week
    this_afternoon what_have_i_got have_i_got_on my_day am_i_busy
freebusy free busy availability ~ available : has_time have_time when_can_we_meet open_slot when_is_everyone_free
    when_are_they_free gap_in free_slot who_is_free time_for
out_of_office vacation holiday leave away absence : on_leave day_off off_work not_in not_at_work on_vacation be_away
    beach
contact ~ phone address : address_book
phone call telephone outbound : ring ring_up dial phone_up give_ring on_the_phone give_call
sms ~ text message : text_message
# Documents, sheets, slides, notes
document word docx ~ doc : letter contract manuscript essay report text_file paper_document write_up
paragraph passage ~ text line : block_of_text sentence bit_of_text
heading header title ~ section : headline caption chapter_title sub_title
footnote endnote : note_at_bottom bottom_of_page at_foot little_numbers source_note small_print at_end_of_document
    end_of_document_note fine_print reference_below
style font bold italic ~ format formatting : typeface letters look thick slanted colour underline
font typeface ~ format : letters lettering
table ~ cell row column word : grid box
width fit ~ column table : wide broad narrow how_wide fit_content
alignment align center table_cell : left_right middle centre in_the_middle flush
padding margin ~ cell : room_around space_inside breathing_room white_space
shading color background ~ cell : colour_in paint tint shade backdrop fill_colour
outline heading structure toc ~ section : chapters table_of_contents contents which_parts bird_eye what_sections
    how_is_it_built parts chapters_are overview
section chapter part : portion piece_of bit
pdf ~ convert document : acrobat print_ready printable
protect password ~ document : nobody_can_edit lock locked read_only
comment ~ document author : remarks_in_margin margin_notes side_notes reviewer_remarks
picture ~ image insert add : photo
xml raw ~ document : under_the_hood markup
spreadsheet workbook sheet excel worksheet xlsx ~ airtable : calc grid google_sheet numbers_file airtable
sheet worksheet ~ tab excel workbook : tab_of_workbook page_of_spreadsheet
cell ~ range excel sheet : box field squares a1
range ~ cell rows excel : block_of_cells area part_of_sheet
formula calculation ~ trace excel : how_is_it_calculated where_does_number_come_from comes_from computed
chart plot diagram ~ graph : bars pie curve line_diagram visualise visualize picture_of_numbers bar_chart draw
    pie_chart
sparkline trend ~ chart : tiny_chart mini_chart little_curve small_graph
slicer ~ filter table : click_to_filter filter_button
note ~ cell comment : remark_on_cell
csv comma_separated import ~ export : text_table plain_table
vba macro script : code_in_workbook
freeze sheet ~ layout : keep_header_visible
presentation powerpoint deck ppt pptx ~ slide : talk slideshow pitch keynote slides_for
slide ~ powerpoint presentation : page_of_deck
template blueprint ~ layout : ready_made sample pattern pre_made master boilerplate starting_point standard_form mould
transition effect animation ~ slide : fade how_slides_change between_slides wipe moving_from
shape connector draw : box circle arrow line_between rectangle star triangle
connector shape ~ line : arrow_between join_with_line link_boxes
hyperlink ~ link url : clickable point_to make_clickable web_address web_link
placeholder fill populate ~ text : empty_box
design theme professional color : look_good pretty make_over style_up polished business_like
master slide_master ~ layout : all_slides_share
font manage : letters
notion ~ page block database : second_brain
block paragraph ~ content notion : piece_of_page
note obsidian ~ page vault : jotting memo write_down
vault obsidian ~ note : notebook my_notes markdown_notes zettelkasten journal diary
frontmatter ~ property metadata note : header_of_note top_of_note properties_of_note
append ~ note content : add_to_bottom
tag ~ note search : hashtag marked_with
parent child ~ page move : under_which sits_under above
child children nested sub : below underneath beneath sub_pages inside_of subordinate lie_under sits_below under
space wiki ~ confluence : area
confluence wiki ~ page : company_wiki team_wiki knowledge_base intranet
restriction ~ page permission : who_may_read
inline ~ comment : remark_next_to_sentence beside_text on_particular_words
markdown md ~ text : plain_md plain_text
# Literature and knowledge
paper publication study preprint ~ article arxiv zotero : scientific_work scholarly research_work academic_text
    literature science_paper work arxiv
arxiv ~ paper search : preprint_server
abstract ~ summary paper : what_is_it_about short_description blurb
citation cite reference ~ graph : who_quotes quoted_by builds_on based_on who_refers cited_by references_of
    who_used_it influenced stands_on
bibliography citation bibtex ~ export : list_of_sources reference_list works_cited source_list literature_list sources
related similar topic ~ paper : like_this_one same_vein comparable more_like_this others_like alike further_reading
    connected_to like
latex equation ~ source paper : formulas tex math_of
read_paper fulltext full_text ~ text : whole_paper complete_text whole_thing word_for_word whole entire
library zotero ~ collection item : reference_manager my_books my_papers literature_collection bibliography_program
    my_literature
collection folder ~ zotero library : shelf pile
annotation highlight ~ note zotero pdf : marked_passage underlined what_did_i_mark passages_i_marked yellow_marks
    what_i_highlighted my_marks scribble
item ~ entry metadata zotero : book title_in_library
topic watch subject ~ alert arxiv : field theme area_of_interest
encyclopedia wikipedia ~ article : lexicon general_knowledge look_up_person wiki
fact key_fact ~ extract wikipedia : most_important things_to_know nuggets trivia main_points
link wikipedia ~ article : points_to refers_to
entity ~ node object memory graph : thing person
memory knowledge_graph knowledge observation ~ graph : remember recall what_do_you_know known_about memorize memorise
    keep_in_mind note_about brain know_about_me forgot told_you forget
observation fact ~ add memory : detail_about learned remember_that told_you birthday
relation relationship edge ~ memory : knows_each_other how_are_they_connected tie works_for is_friend_of
    connected_with
knowledge knowledge_base ~ source docs : what_it_knows
# Smart home, devices, media
home_assistant ha smart_home home ~ entity : house flat apartment room bedroom kitchen living_room garage bathroom
    garden hallway office_lamp door sensor temperature thermostat heating
light lamp call_service control ~ home entity ha : bulb brightness bright dim dark
state sensor ~ entity ha home : is_door_open is_light_on still_on battery_level motion is_it_on how_much_power
    humidity closed
bulk control many ~ ha : all_lights every_lamp everything_off all_of_the_lights
automation trigger ~ rule ha home : when_then by_itself automatically whenever if_this every_evening at_sunset
    every_morning
script routine sequence ~ ha home : series_of_steps
helper input ~ ha config : virtual_switch counter timer
logbook ~ history ha home : what_happened_at_home who_opened
template eval jinja ~ ha : expression
entity ~ device ha home : gadgets which_devices appliances
mobile android ios iphone ~ phone device : handset smartphone tablet cellphone cell simulator emulator farm
device ~ available list mobile : phones_connected plugged_in which_phones hooked_up
app application ~ mobile : program software
foreground app current ~ mobile : which_app_is_open open_right_now in_front on_top what_is_open
launch app ~ open mobile : start_app tap_icon
orientation rotate landscape portrait ~ screen : sideways turn_phone on_its_side upright lying
clipboard paste ~ copy mobile : copied cut_buffer what_i_copied
screen display ~ mobile : monitor glass
audio sound ~ elevenlabs : noise
speech text_to_speech tts ~ voice elevenlabs audio : read_aloud out_loud spoken say_aloud read_out speak_text aloud
    narrate let_speak talk voice_over spoken_words speak narrator narration
speech_to_text transcribe transcript : what_was_said write_down_what dictation recording_to_text
    put_recording_into_words typed_up voice_memo written_form type_up minutes_of in_writing
voice speaker clone ~ elevenlabs : how_it_sounds sound_like_me my_own_voice imitate_voice narrators sounds_like_me
    mimic
isolate noise ~ audio : remove_background background_noise clean_recording noisy without_music only_voice hiss
music song compose track ~ composition : tune melody soundtrack score jingle piece_of_music beat
play ~ audio : hear listen_to
conversation transcript ~ agent elevenlabs : call_with_customer talk dialogue phone_conversation what_did_the_caller
    caller call
agent assistant bot ~ elevenlabs : phone_assistant voice_bot receptionist
model ~ available list : which_models
podcast episode : show
camera photo : shot
design figma mockup ~ layout : wireframe sketch_of_screen ui_draft prototype screen_design designer
figma asset ~ image download : icons_from_design graphics_from_design
component ~ figma design : ui_piece
# Business, money, shop
payment invoice charge transaction billing ~ stripe : pay money bill owe paid
refund payment return : money_back give_back pay_back
subscription ~ plan customer billing : monthly_fee membership recurring
product price catalog ~ item shop : goods article merchandise
order purchase checkout ~ shop : bought buy basket
cart basket checkout : shopping
inventory stock product : left_in_store on_hand
revenue sales income report : how_much_did_we_make earnings turnover profit earned
stock share price market finance : ticker shares
account balance bank : how_much_money_do_i_have
contact company deal ~ customer crm hubspot : business_partner
deal opportunity pipeline ~ crm : sale
engagement call ~ note task hubspot : logged_call talked_to interaction touch_point record_of_talk activity
association ~ relation link hubspot : who_works_where belongs_to_company which_contacts_belong connected_to
property ~ field hubspot : piece_of_info attribute
object ~ record hubspot crm : entries contacts_companies
campaign marketing ad : advert advertising
analytics report visitor traffic : how_many_visitors page_hits audience_numbers
lead prospect contact : interested_person
feedback survey ~ link : tell_the_makers complain suggestion_to_makers opinion
employee hr staff : worker
ticket support ~ customer : complaint
# APIs, agents, the rest
api rest endpoint http ~ request postman : interface call_our_service postman
collection ~ request postman api : bundle_of_calls set_of_calls api_calls saved_calls group_of_requests
spec specification openapi swagger definition ~ api postman : contract api_description blueprint interface_description
mock fake ~ server postman api : pretend_server dummy_server stand_in fake_backend fake_answers
response answer example ~ api : sample_answer what_comes_back reply_of
environment variable ~ postman : set_of_values base_urls
workspace ~ postman : working_area
sync ~ spec collection postman : bring_in_line match_again
tool enabled discover capability ~ available : what_can_you_do what_can_i_do which_functions which_commands
    more_functions features abilities what_is_possible kind
capability ~ write allowed permission : am_i_allowed may_you_write can_it_write
echo ~ test message : say_back repeat_after parrot same_words
sum math ~ add number : plus addition total_of two_numbers
resource reference ~ link : pointer
progress long_running operation ~ status : how_far percent
task operation ~ job status : assignment
structured_content json ~ data : machine_readable
json ~ data field : structured
site deploy ~ project netlify : web_project homepage hosting
domain ~ url site : web_address
extension plugin ~ netlify : add_on
region zone ~ location : data_centre
course lesson education : class learn school student
health medical patient : doctor illness medicine
recipe food cook : meal dish dinner
game player score : play
legal law case : court
sports match score : game_result
random ~ number generate : dice coin
unit measure ~ convert : inches pounds celsius fahrenheit
type kind class category : sort_of what_kinds what_sort
data information fact ~ info detail metadata : facts
item thing ~ element entry : stuff
view seen looked visit : looked_at
advanced complex ~ search filter : with_conditions all_at_once
horizontal ~ row merge : side_by_side next_to_each_other neighbouring neighboring
vertical ~ column merge : on_top_of_each_other below_each_other
after before near ~ text : right_behind just_before next_to
"""
"""What is talked of, in lines of the same kind."""

SAYINGS = """
# People, teams and rights
namespace group gitlab : path_taken name_still_free
verify exist check : already_taken still_free name_free is_there_already
developer engineer user : programmer coder
subscription account check elevenlabs : my_plan what_am_i_paying characters_left
# Code hosting and git
push files commit multiple github gitlab : several_files_at_once put_files_in
create or update file write commit github gitlab : put_file_in_repo change_file_in_repo
checkout switch branch git : go_over_to_branch work_on_other hop_over change_to_branch
show commit git : what_was_in_that_commit
reset unstage git : take_out_of_commit unadd back_out_of_commit undo_add out_of_next_commit
search code github : where_do_we_use where_in_our_code who_uses which_repos_use find_function used_where
search users : find_developer
discussion note resolve merge request gitlab : settle_argument
commit status ci : did_checks_pass green_tick
ci catalog component gitlab : reusable_pipeline ready_made_building
merge request version diff : earlier_rounds iterations_of_mr
changes merge request diff file : what_does_it_touch which_lines
language stats repository : written_in
iteration group gitlab : sprint
upload markdown image gitlab : embed put_picture_in_issue embed_in
event activity user gitlab : what_did_i_do_today my_contributions
identifier id key number : id_number
link types issue : ways_to_connect in_which_ways kinds_of_links how_can_they_be_connected
file changed pull request diff : which_files touched_files affected_files files_touched
code reference search : where_in_code used_in_code where_is_it_used still_used mentions_in_code which_files_mention
    usage
pull request create : propose_changes offer_my_changes ask_to_merge get_my_code_in submit_my_branch hand_in_my_changes
    ready_for_review
pull request merge : get_changes_into_main bring_into_main accept_changes land_changes take_changes_over
    my_branch_into_main
pull request list : open_changes what_is_waiting_for_review proposed_changes_open waiting_for_review
pull request review create : give_opinion_on_code approve_changes look_over_code ask_for_changes criticise_code
pull request files diff : what_does_change_touch lines_changed_in what_does_his_change
pull request comments : what_do_they_say_about_my_change remarks_on_my_code feedback_on_my_change
pull request status : checks_green checks_pass can_i_merge did_checks
branch create : start_new_line work_separately own_line_for side_branch without_touching_main try_something
    try_out_idea experiment_without separate_from_main not_on_main
branch delete : old_branch_away branch_no_longer merged_branch_away
branch list : which_lines_of_development what_branches lines_of_development which_lines_do_we_have
branch protect : nobody_push_to_main no_pushing lock_branch stop_people_pushing
branch update default : main_branch_should_be
commit list log : what_was_changed_lately who_changed_what what_happened_in_repo last_changes who_did_what_in_repo
commit get diff show : what_did_commit_change in_that_commit what_came_with
blame file : who_wrote_line who_is_guilty who_touched_line whose_line author_of_line wrote_this_part
repository create : new_home_for_code place_for_my_code start_project_on new_repo
repository fork : my_own_copy_of_project copy_someone_project
repository search : open_source_projects projects_about is_there_library
file contents get repository : what_is_in_readme show_readme read_file_on_github source_of
tree repository : what_folders_in_repo how_is_code_laid_out
label create : new_sticker colour_for_tickets
label list : which_stickers what_labels
member list project group : who_works_on_project who_is_in_group who_has_access_to_project people_on_project
milestone list project : big_checkpoints what_are_goals
milestone create : new_goal new_deadline
todo list : what_is_waiting_for_me what_am_i_supposed what_should_i_do on_my_plate
todo mark done : done_with_todo tick_off_todo
search code : which_files_contain where_is_function_defined where_is_it_defined find_usage
get file blame : how_old_is_line
approve merge request : looks_good_to_me fine_with_me give_my_ok ok_from_me
unapprove merge request : take_back_my_approval changed_my_mind_about_approval no_longer_approve
merge request conflicts : why_can_i_not_merge cannot_be_merged merge_blocked
merge request pipelines : builds_of_my_change
merge request update : change_title_of_mr other_reviewer
draft notes publish : send_my_review submit_my_remarks publish_remarks
note update : reword_remark rephrase_comment edit_my_comment fix_my_comment wrong_in_my_comment
note delete : remove_my_comment take_my_comment_away said_by_mistake
reaction delete : take_back_like not_like_anymore take_my_thumb remove_smiley
reaction list : who_liked which_smileys
namespace verify : is_name_taken name_available
project get : about_this_project what_is_this_project
project update : rename_project describe_project_differently make_project_private
project list : which_projects all_our_projects what_projects_do_we
group projects list : repos_of_group projects_of_department
user get : who_is_this_person find_out_about_user
events list : what_have_i_been_up_to my_activity what_did_i_do
iterations list : which_sprints
label update : recolor_label rename_label change_colour_of_label
label delete : label_away
# Issues and planning
sprint issue board jira : what_is_in_sprint planned_for_this_sprint work_for_two_weeks
add issues to sprint : plan_into take_into_sprint pull_into_sprint
backlog move issue jira : take_out_of_sprint not_this_sprint out_of_sprint
customer request create jira desk : on_behalf ask_it_department
request type desk : what_can_customers_ask kinds_of_requests
development info branch commit jira issue : which_commits_belong code_behind_ticket pull_requests_for_ticket
    which_branch_for
images issue attachment jira : screenshots_in_ticket pictures_in_ticket
dates issue created due jira : when_was_it_opened when_was_it_created timeline_of how_long_in_each
issue type project : kinds_of_tickets what_sort_of_tickets
create fields required project : must_i_fill mandatory what_do_i_have_to_fill need_to_fill have_to_fill
    required_information
project version release jira : planned_release
remote issue link url jira : web_link_on_ticket point_ticket_to
hierarchy epic project tree : how_does_it_break_down big_picture family_tree
cross dependencies project : between_projects other_teams across_teams
position list order trello : further_left further_right come_first
acceptance criteria checklist card : definition_of_ready
active board set trello : work_on_board which_board_am_i use_board
custom field card update trello : extra_field
archive card list trello : hide done_with_card off_the_board off_board
member card assign trello : put_on_card take_off_card off_the_card
history card trello : what_happened_to_card
attach card file image url trello : pin_to_card hang_on_card onto_card
bulk update issues linear : change_many_tickets
project with issues create linear : new_project_with_tasks
my issue assigned task : on_my_plate my_work my_tasks assigned_to_me i_have_to_do what_do_i_have_to_do
    what_should_i_work my_job what_i_must mine
customer need request linear : wish feature_request what_customers_want want_from_us
issue create : something_is_broken write_down_bug note_bug needs_fixing tell_developers put_on_list_of_bugs new_task
    make_ticket
issue assign : give_ticket_to hand_ticket make_him_responsible who_should_do put_anna_on
issue transition status : ticket_done ticket_in_progress set_ticket_to mark_ticket start_working_on_ticket
    move_ticket_to ticket_back ticket_finished
issue search : which_bugs open_bugs bugs_about tickets_about anything_reported_about has_anyone_reported known_bug
    tickets_of
issue get : what_is_ticket_about details_of_bug what_does_ticket_say tell_me_about_ticket
issue comment add : write_under_ticket say_on_ticket remark_under_issue leave_comment leave_note_on
issue link create : ticket_depends_on tie_tickets connect_tickets blocks_other duplicate_of ticket_belongs_to
issue watcher : who_follows_ticket who_is_watching who_gets_updates
worklog add : two_hours_on_ticket hours_on_ticket spent_hours worked_hours log_hours put_down_hours
sprint create : new_sprint next_two_weeks
sprint issue : what_do_we_do_this_sprint what_is_planned_for_sprint
epic link : belongs_to_epic under_epic part_of_bigger
sla issue : answered_in_time too_late_for_customer
version create : new_release_number
card move list : card_to_done card_into_done put_card_in move_along_card finish_card
card create add list : new_card put_on_board write_card
card archive : card_out_of_sight put_card_away card_no_longer
card member assign : put_him_on_card who_does_card
checklist item update : tick_off_item tick_box mark_step_done
checklist create : steps_to_tick list_of_steps
board members : who_is_on_board
issue move project : other_project wrong_project ticket_belongs_to_another_project ticket_to_other_project
issue delete : ticket_by_mistake ticket_away opened_by_mistake created_by_mistake duplicate_ticket_away
issue update edit : more_urgent less_urgent raise_priority lower_priority change_description change_title_of_ticket
    due_tomorrow extend_deadline
issue changelogs : what_happened_to_ticket who_changed_ticket history_of_ticket
issue attachments download : files_of_ticket
fields search : which_field_is
transitions get : where_can_ticket_go next_possible_status
link remove : tickets_no_longer_related untie_tickets
watcher add : keep_him_informed add_me_as_follower
watcher remove : stop_informing
board issues : what_is_on_board everything_on_board
queue issues desk : waiting_customers customers_waiting support_backlog
forms issue proforma : what_did_customer_fill
page section update : rewrite_one_part only_that_section
page delete : article_away wiki_page_away
page copy : same_page_again
comment reply : answer_to_remark
inline comment add : remark_next_to_sentence beside_sentence
attachments upload page : put_file_on_wiki hang_file_on_page photos_on_page pictures_on_wiki put_photos
    put_pictures_on_page files_onto_page
attachments get page : files_on_page what_is_attached_to_page
labels get page : how_is_page_tagged
page tree space : how_is_wiki_organised
permissions check content : may_i_edit_page can_she_read_page
space permissions : who_is_allowed_into_wiki
list archive trello : whole_column_away
list add board : new_column_on_board
list update position : column_further_left column_to_the_right column_to_left all_way_right list_to_end
    column_should_be_right move_list_to_end
card update : card_due_tomorrow change_card due_date_of_card rename_card
card watch : keep_me_posted_card follow_card
card attach : put_file_on_card picture_on_card link_on_card
card copy : same_card_again
cards my : my_cards cards_assigned_to_me
board create : new_board wall_for
board labels : colours_on_board
workspace list : which_workspaces
acceptance criteria : when_is_card_done
linear project create : new_project
customer need : customer_asked_for
search objects : which_records_match
property create : extra_information_on
workflow get list : how_does_automation_work marketing_automation which_automations
repair system : try_to_mend mend fix_itself heal something_is_broken_with
footnote delete : note_at_bottom_superfluous bottom_note_away remove_small_print
file move rename : call_picture call_file_instead give_file_other_name
deploy reader get : did_upload_work last_upload_of_website did_site_go_live is_my_site_live did_deploy_work
docs domain home : what_can_i_do_with_device do_with_climate
label values list : names_occur_in_logs which_apps_in_logs occur_in_logs
url get page current : where_am_i_in_browser which_page_am_i_on what_page_is_open address_of_page
links list issue : tied_to other_issues_tied what_is_ticket_connected
presentation generate create : ten_slides i_need_slides slides_on slides_by_tonight talk_about_topic_tonight
restart : turn_it_off_and_on give_it_kick
status get : how_is_it_coming_along how_far_are_we
comment add : let_them_know_on tell_them_on_ticket
secret protect : keep_secret
permission grant share : bring_someone_in let_someone_in give_someone
permission remove revoke : lock_someone_out throw_someone_out nobody_else_should take_away_rights no_longer_see
alert silence : be_quiet
chart image : picture_of_numbers
translate : in_plain_english
count : how_often how_frequently
list recent : what_is_new lately_added
search : hunt_for dig_for anyone_know
schedule : every_day_at every_monday
export : give_me_as_file as_spreadsheet
backup restore : back_to_how_it_was_last_week
sort : rank_by best_first
compare : which_is_better
version list : earlier_editions
history get : since_when how_long_has
user search : find_colleague_called find_someone_called person_named person_called find_colleague
issue list : problems_unsolved still_unsolved unsolved_problems what_is_broken_in_repo not_fixed_yet
issue sprint get : working_on_these_two_weeks what_are_we_working
workflow list : automatic_processes which_processes_run
fonts manage : other_typeface different_typeface prettier_letters
helpers list home : timers_and_counters which_timers
plugin get : is_add_on_there is_plugin_there do_we_have_plugin
log analyze anomalies : anything_fishy fishy_in_logs weird_in_logs suspicious
templates list : which_blueprints what_blueprints ready_made_forms which_samples
note delete merge request : said_something_stupid take_back_remark remark_away
element click page : press_big_button blue_button big_button
automation get config home : what_makes_light_go_on go_on_by_itself switches_by_itself why_does_light
incident update resolve : outage_is_over problem_is_over everything_back_to_normal
comments paragraph document : remarked_on_passage remarks_on_passage
node drain cordon : no_new_pods replace_disk machine_out_of_service maintenance_on_machine
# Builds, releases, flags
usage data download api circleci : how_many_credits minutes_used
followed projects circleci : which_projects_do_i_follow
test result job ci : which_tests_failed did_tests_pass
run pipeline trigger ci : start_build build_it_again
across environments flag status : in_staging_and_production everywhere_on
stale unused flag code reference : still_needed safe_to_remove
coding rules guide netlify : conventions how_should_i_write
resolve library id context7 : which_package
feature flag toggle launchdarkly : switch feature_toggle feature_switch kill_switch on_for_users switched_on
    hidden_feature turned_on_for
ai config model prompt launchdarkly : model_settings prompt_settings llm_settings which_model
resource class underused usage : too_big_machines wasted oversized paying_too_much idle_machines
ci lint validate : yaml_pipeline_ok is_my_ci_file is_pipeline_file_correct is_my_yaml_ok
pipeline status latest : did_build_pass is_build_green is_main_green is_it_green build_finished how_is_build
    last_build
build failure logs : why_did_build_fail why_red build_broke what_broke_build build_went_wrong why_is_ci_red
pipeline run : start_build kick_off_build build_again
workflow rerun : try_build_again once_more_build same_build_again
flaky tests find : tests_sometimes_fail unreliable_tests tests_fail_now_and_then
artifacts list : what_did_build_produce files_from_build
rollback pipeline : go_back_to_last_version undo_deployment old_version_back undo_release
deploy site : put_site_online publish_website put_it_live get_site_on_internet make_site_live website_online
    site_online get_my_website publish_site site_to_world page_live bring_site
environment variable : secret_of_site
extension install : add_on_for_site
feature flag create : new_switch hide_feature_behind
feature flag update toggle : switch_feature_on switch_feature_off turn_feature_on turn_feature_off half_of_users
    everyone_gets_feature give_feature_to
feature flag get : is_feature_on is_feature_live state_of_feature
feature flag status environments : is_feature_on_everywhere on_in_production
feature flag delete : switch_no_longer not_need_toggle old_toggle
code references flag : where_is_flag_in_code flag_still_used
ai config targeting : who_gets_which_model
# Databases
dbsize size number key redis : how_many_keys
hset hash set field redis : put_into_map store_in_dictionary
hget hash get field redis : one_value_of_map
hgetall hash get all redis : whole_map whole_dictionary everything_in_hash all_values_of_map inside_dictionary
    entire_object
hdel hash delete field redis : drop_from_map out_of_map out_of_dictionary
hexists hash exist field redis : is_there_field does_field_exist does_exist
llen list length redis : how_long_is_queue how_many_wait how_many_in_queue how_many_jobs length_of_queue
lrem list remove redis : take_out_of_queue
srem set remove member redis : out_of_set
zrem sorted set remove redis : off_the_leaderboard
xdel stream delete redis : drop_from_stream
xack acknowledge stream redis : mark_as_processed tell_it_was_handled done_with_message got_it
xgroup consumer group stream redis : several_workers share_work split_work workers
scan keys pattern redis : which_keys keys_that_start keys_like starting_with
type key data redis : what_kind_of_value
json get path document redis : nested_value
hybrid search vector filter redis : similar_but_only
vector search similarity : closest_match most_similar nearest find_similar things_like_this closest_ones
    nearest_neighbours look_alike
client list connection redis : who_is_connected connected_programs
info server statistics redis : how_is_cache_doing memory_used_by_cache
rename collection key : other_name
drop index : not_needed_index index_no_longer
collection storage size : how_much_space
knowledge search docs mongodb : official_advice how_do_i_in_mongo
export collection data mongodb : dump_to_file
write cypher graph neo4j : add_to_graph change_graph
read cypher graph neo4j : ask_graph question_to_graph
source db analyzer analyze database dynamodb : look_at_old_database existing_database
performance cost compute dynamodb : what_would_it_cost_to_run
data model schema dynamodb : design_tables how_to_store table_design design_my_database
documents find : look_for_records which_records records_where entries_where
documents insert many : put_records_into add_records store_entries
documents update many : change_records correct_entries
documents delete many : old_records_away remove_entries
collection list : what_is_in_mongo which_collections
collection drop : throw_whole_collection
collection schema : what_do_records_look_like fields_of_records what_do_entries_look_like entries_look_like
    structure_of_entries
index create : queries_slow make_query_faster speed_up_lookup
index list collection : which_lookups_are_fast
explain query : why_is_query_slow how_does_database_run
count documents : how_many_records how_many_entries how_many_documents
databases list : which_databases what_data_stores
tables list : which_tables what_tables tables_are_there
table describe schema : what_columns columns_of_table what_does_table_look_like which_columns
record create : new_row_in add_customer_to put_entry_into
record update : change_row correct_row fix_row correct_rows
record delete : row_away remove_row
record list : rows_of_table what_is_in_table all_rows
field create : one_more_column new_column extra_column another_column
field update : rename_column column_called column_should rename_field
key set value : remember_value store_value keep_value cache_value put_in_cache
key get value : what_is_stored cached_value what_is_in_cache what_did_we_store
key delete : out_of_cache forget_key drop_from_cache
key expire : only_keep_for_hour forget_after_hour vanish_after valid_for_minutes
list push : put_job_in_queue to_queue add_to_queue line_up_job
list pop : next_job take_next_from_queue next_from_queue first_in_queue last_in_queue
list range : look_at_queue what_is_in_queue see_queue
set add member : to_the_set unique
sorted set add score : leaderboard_entry new_high_score put_on_leaderboard points_of_player player_points
sorted set range : top_players who_leads best_scores top_ten leaderboard
stream add : write_to_stream event_into_stream
stream read : last_events_in_stream new_events_from_stream
publish channel : shout_to_listeners tell_all_listeners broadcast
subscribe channel : hear_what_is_published listen_on
cache size number keys : how_many_keys how_full_is_cache
server info : how_is_server_doing memory_of_server
client list : who_is_connected_to_cache connected_to_cache
hash get all : everything_in_dictionary inside_cached whole_hash
hash get : one_field_of
json get : value_out_of_document
json set : store_document
rename key : other_key_name
index info : about_the_index
consumer group create : workers_share several_workers_stream
stream acknowledge : done_with_event
database drop : throw_whole_database wipe_out_whole_db wipe_database whole_db_away
database stats : how_big_is_database
connections list : hooked_up_to which_servers_connected
export collection : dump_to_file_mongo
logs mongodb : what_does_mongo_write
# Cloud, containers, kubernetes
apply manifest yaml kubectl : put_yaml_onto from_file_to_cluster
describe resource kubectl kubernetes : why_is_pod_not_starting events_of what_is_wrong_with_pod
get resource kubectl kubernetes : what_is_running which_pods pods_running
rollout restart deployment kubectl : start_pods_anew new_version_out bounce
patch resource kubectl : small_change
explain resource api kubernetes : what_fields_does which_settings_can
generic command kubectl arbitrary : any_other_command some_other_command anything_else
stop port forward : close_tunnel end_tunnel shut_tunnel
reconnect connection cluster : lost_connection dropped
cleanup resource delete managed : everything_you_started
# Monitoring and incidents
insights query log cloudwatch : search_in_logs ask_logs
query result log cloudwatch : what_did_it_find outcome_of_query
recommend indexes cloudwatch : which_fields_to_index
recommended alarm metric : what_should_alarm which_alarms_should
alarm history : when_did_it_go_off how_often_did_it_ring past_alarms when_did_alarm_ring how_often_alarm
    alarm_last_night
active alarm : ringing_now going_off_now currently_in_alarm red_now anything_going_off is_anything_red
    is_anything_ringing anything_alarming what_is_burning anything_wrong_now on_fire
metric data : how_busy_was cpu_over_the_last how_loaded_was
analyze metric trend : going_up_or_down seasonality
label names loki prometheus tempo : by_what_can_i_filter
metric names prometheus : what_is_measured which_numbers_do_we_collect what_do_we_measure
loki stats log stream : how_many_log_lines how_much_log
check datasources health : do_data_sources_work
alert group oncall : bundle_of_alerts acknowledge i_am_on_it taking_care_of_alert
incident activity add grafana : note_in_incident timeline_entry
create incident : declare raise_alarm call_emergency declare_outage site_is_down raise_outage start_outage
update incident status : outage_is_over incident_over
provisioning repository file grafana : dashboards_as_code
snapshot dashboard create grafana : freeze
folder dashboard grafana : group_of_dashboards
panel queries dashboard : which_query_is_behind what_does_panel_ask behind_the_chart expression_behind_graph
    query_behind behind_this_graph behind_graph
dashboard property : one_part_of_dashboard
dashboard version : older_dashboards how_dashboard_looked
search events sentry : how_often_did_error_happen how_many_users_saw
find organizations sentry : which_orgs
assertion entity grafana : what_is_unhealthy
log group cloudwatch : bucket_of_logs log_streams
panel image render : picture_of_graph graph_as_picture graph_as_image screenshot_of_graph
pods get kubectl : what_is_running which_pods what_runs_in_cluster is_it_running_in_cluster things_running
logs kubectl pod : what_does_container_say output_of_pod what_is_pod_writing
describe kubectl : why_does_pod_not_start why_is_pod pod_stuck pending_pod
apply kubectl manifest : put_yaml_on_cluster roll_out_yaml
delete kubectl : pod_away throw_out_pod
scale kubectl replicas : more_pods more_copies_of_service fewer_pods three_instances run_more_instances
    handle_more_traffic
rollout restart kubectl : restart_service start_pods_again restart_pods undo_deployment_cluster
exec pod command : inside_container run_in_container go_into_pod shell_in_container run_inside_container
    inside_web_container
port forward : reach_service_from_laptop open_locally on_localhost
context kubectl : other_cluster which_cluster switch_cluster change_cluster
helm install : put_package_on_cluster
helm upgrade : newer_chart
helm uninstall : package_off_cluster
node management drain : take_machine_out server_maintenance empty_machine
metric data get : how_busy_was_server cpu_last_hour load_of_server how_much_cpu memory_use traffic_last_night
metric query prometheus : requests_per_second error_rate cpu_usage how_many_requests_per
logs query loki : errors_in_logs what_do_logs_say look_in_logs search_logs_for log_lines_about anything_in_logs
logs query cloudwatch insights : aws_logs lambda_logs
trace get search tempo : where_did_request_spend_time path_of_request slow_request way_of_request
profile pyroscope query : which_function_eats_cpu where_is_cpu_going
dashboard search : which_graphs find_dashboard board_for_payments
dashboard update : change_graph_on_dashboard add_panel
dashboard summary get : what_is_on_dashboard
datasource list : where_do_numbers_come_from where_data_from
annotation create : mark_on_graph note_on_graph mark_moment mark_deploy mark_passage
annotation get : marks_on_graphs what_marks
silence create alerting : stop_alarm_tonight quiet_tonight shut_up_alert no_alerts_tonight leave_me_alone_tonight
    mute_alarm
alert rule create : wake_me_when warn_me_when tell_me_when_cpu alarm_when notify_when_above
alert rules read list : which_alarms_exist what_do_we_alert
incident list : what_is_broken_now which_outages recent_outages outages_last_week
incident activity add : note_to_outage what_we_found_outage
oncall users current : who_is_on_duty who_do_i_wake who_has_pager who_is_on_call whose_night who_to_ring_tonight
issue search sentry : which_errors_do_users_see errors_in_production new_crashes what_is_crashing
issue analyze seer : why_does_app_crash cause_of_error what_causes_error explain_crash
issue update sentry : error_is_fixed mark_error_as_fixed ignore_error
event search sentry : how_often_did_it_crash how_many_times_error
log groups describe : which_logs_are_there what_logs_do_we
log analyze : anything_odd_in_logs unusual_in_logs patterns_in_logs
query cancel : stop_running_query kill_query takes_too_long_query
query results : is_query_done what_came_out_of_query
metric analyze : is_it_growing trend_of
alarm recommend : which_alarms_make_sense
labels values list : possible_values_of_label
metric names list : what_do_we_measure
trace diff compare : slower_than_that_one compare_requests
snapshot create dashboard : freeze_dashboard keep_state_of_dashboard
folder create : group_for_dashboards
plugin install : add_plugin
routing alerting : who_gets_alerts send_alarms_to
silences read : hushed_alarms which_alarms_are_muted what_is_muted
oncall schedules shift : duty_plan when_is_my_duty duty_slot from_when_to_when duty_roster
validate file provisioning : would_it_be_accepted
deeplink generate : link_to_this_graph share_dashboard_link
user info : who_am_i
connection test : can_we_reach is_it_reachable reachable_from_here
# Files
directory tree : folders_within_folders nested_folders folders_in_folders whole_folder_structure
list directory file : what_is_in_folder what_files_are_here what_is_in_here files_in
list directory with sizes : which_files_are_biggest what_takes_space
search files : where_did_i_put find_that_file somewhere_on_disk
read multiple files : several_at_once
read media file image audio : picture_file
create directory : new_folder make_place_for folder_for
file info size modified filesystem : touched
file info metadata size modified : how_big how_large when_was_it_changed last_touched last_modified how_old
    when_was_it_made properties_of bytes kilobytes
file read : show_me_file what_is_in_file open_textfile what_does_file_say look_into_file
file write : put_text_into_file save_text_as write_down_in_file store_text_as text_as_file
file edit : change_line_in_file fix_line_in_file swap_lines change_config_file lines_in_file replace_line in_py_file
    tweak_file edit_line
file move : rename_file other_name_for_file file_to_other_folder file_somewhere_else
file search : where_did_i_put_file where_is_file lost_file find_file_named
file info : how_big_is_file when_was_file_changed last_touched_file how_old_is_file file_size
directory list : what_is_in_folder files_in_folder what_files contents_of_folder
allowed directories : where_may_you_read which_folders_may
# Web, browser, search
video search brave : clips_about watch_something
image search brave : pictures_of photos_of what_does_look_like
news search brave : what_happened_today in_the_news
local search business brave : around_here
summarizer summary web brave : gist_of_internet what_does_internet_say
monitor website change page check firecrawl : tell_me_when_page_changes watch_site when_site_changes price_drops
    keep_eye_on_page
crawl status : how_far_is_crawl
parse file document firecrawl : local_pdf
extract structured data page : names_and_prices from_site_into_table
interact page browser click firecrawl : do_things_on_website push_its_buttons operate_page
act browser natural browserbase : do_on_page tell_browser
observe element browser browserbase : what_could_i_click
credit usage firecrawl : scrapes_left
research paper search firecrawl : scientific
developer search code docs : programming_question
network request response detail : one_request headers_of what_did_it_answer
close page tab browser : shut_tab shut_window
new page tab : open_another_tab fresh_tab another_tab fresh_window
resize window browser : smaller bigger
file upload browser : choose_file_in_form
run code playwright : script_against_page
accept dialog handle : press_ok say_ok dismiss
trace start performance : measure_speed measure_load record_speed
double tap click : twice two_taps
long press hold : hold_down finger_down keep_pressed keep_finger press_and_hold
press key keyboard : hit_enter keystroke shortcut ctrl enter_key escape arrow_key push_key alt_tab push_ctrl
    shortcut_keys control_key hotkey
web search : look_up_online google_for find_out_on_internet ask_internet what_does_web_say look_on_internet who_won
    who_invented what_is_latest
news search : what_happened_in_world what_do_papers_say
image search : pictures_of photos_of find_photo show_me_photos_of
video search : clips_of find_video something_to_watch film_about
page fetch content : what_is_on_this_page text_of_website text_of_link read_this_site read_this_link
    what_does_this_link article_behind_link
site crawl : whole_website all_pages_of_site every_page
site map urls : which_pages_has_site list_of_pages all_links_of_site
monitor page create : tell_me_when_page tell_me_when_site watch_website price_changes site_changes
research deep : find_out_everything long_report thorough_report dig_into_topic
extract structured data : prices_from_page table_from_site names_from_site
page navigate url : go_to_site open_site go_to_page surf visit_site take_me_to_site homepage_of
page back navigate : page_before one_page_back
element click : push_button press_login hit_button choose_link
form fill : enter_my_name fill_in_fields put_in_address type_my_details sign_up_form
text type : enter_text type_into_box write_into_field
key press : hit_enter press_enter hit_escape hit_tab
option select dropdown : choose_from_list pick_country
screenshot take : what_does_page_look_like how_does_page_look show_me_page picture_of_page photo_of_screen see_screen
snapshot page : what_is_on_page what_can_i_click
console messages : javascript_errors errors_of_page page_complaining
network requests list : what_did_page_load what_does_page_talk_to calls_of_page
script evaluate : run_javascript run_own_code
wait text : until_it_loads till_page_ready
tab list pages : which_tabs open_tabs
dialog handle : say_ok_to_popup dismiss_popup are_you_sure_box
file upload : choose_file_on_page
window resize : smaller_window phone_size_window
performance trace : why_is_page_slow measure_page_speed how_fast_page
lighthouse audit : how_good_is_my_site grade_page accessible_page
heap memory snapshot : eats_ram eat_memory memory_grows
# Maps, weather, travel, time
place details : tell_me_more_about_restaurant when_does_restaurant_close restaurant_open is_shop_open_now
    what_do_people_think_of_restaurant opening_times close_tonight shop_open open_on_sunday how_good_is_restaurant
directions : way_from_to how_do_i_get_to best_way_to drive_to walk_to how_to_get_to
distance matrix : how_far_is how_long_to_drive how_many_kilometres how_many_miles how_long_from_to
geocode : coordinates_of lat_and_long where_exactly_is_street
reverse geocode : what_is_at_point which_street address_at
places search : nearest_pharmacy somewhere_to_eat coffee_near pizza_near hotels_near good_restaurant
    restaurants_around where_can_i_get where_to_buy haircut barber dentist_near plumber
elevation : how_high_is how_high_above how_tall_is_mountain
current time : what_time_is_it how_late_is_it what_is_the_hour clock_in time_now_in
convert time timezone : my_time_their_time meeting_at_three_in when_is_that_in when_it_is_in
# Mail, chat, calendar
mark read email : as_seen have_seen
move email mailbox : other_mail_folder into_folder mails_into_folder sort_mails put_mails file_mail
archive email : out_of_inbox clear_inbox away_from_inbox clean_inbox mails_are_dealt_with dealt_with_mails
    finished_mails
list emails metadata : what_came_in new_letters anything_new_in_my_mail any_mail from_my_boss did_anyone_write
set flags email : star_it important_mail
save draft email : not_send
allowed recipients email : whom_may_i_write
account email available list : which_mail_addresses my_mail_accounts
webhook message send discord : post_as_bot
login discord bot : come_online
read messages channel history : what_is_being_said
user profile slack : who_is_that phone_of_colleague his_title
post message channel slack : say_in_channel tell_team tell_everybody let_team_know write_in_channel
    announce_in_channel ping_team say_good_morning drop_message let_channel_know
create event calendar manage : put_in_calendar put_in_diary lunch_with set_up_meeting meet_with put_me_down
    set_up_call block_an_hour put_meeting make_appointment invite_to_meeting send_invitation
calendar create : separate_calendar separate_calendar_for
drive file search workspace : where_is_my_document in_my_drive
import google document drive : turn_word_into_google make_google_doc
shareable link share drive : link_i_can_send link_to_send
copy drive file : duplicate_doc
focus time block : undisturbed no_meetings concentrate quiet_time do_not_disturb uninterrupted leave_me_alone
phone number : which_numbers line
event calendar get : what_is_on_today my_day_look_like do_i_have_time when_is_my_next what_am_i_doing am_i_meeting
    when_do_i_meet busy_on my_appointments whats_planned anything_planned on_tomorrow on_today
event calendar manage update : push_meeting postpone_meeting meeting_later move_meeting reschedule cancel_meeting
    call_off_meeting shift_meeting
freebusy query : when_is_everybody_free find_time_for_meeting both_have_time is_he_free is_she_busy when_can_we
    find_slot suitable_time
out office manage : on_holiday_next_week i_am_away nobody_bother vacation_message auto_reply
email send : write_to_my_boss write_letter drop_him_line tell_by_mail mail_to write_mail send_letter thank_him
    say_thanks tell_by_email let_him_know_by_mail
email list metadata : new_mail unread_mail what_is_in_inbox did_i_get_mail who_wrote_me mails_from anything_from
    any_letters in_my_inbox has_written
email content get : open_mail what_does_mail_say read_mail text_of_mail what_did_he_write_mail
email delete : throw_letters_away bin_mails get_rid_of_mail
mailbox create : new_mail_folder folder_for_mails
attachment download email : save_attached_file file_he_mailed pdf_from_mail
channel history messages : what_did_i_miss what_was_said_in what_are_people_saying last_things_said
    catch_up_on_channel talking_about_in_channel
thread reply slack : answer_in_thread respond_under answer_him_in_chat
reaction add emoji : put_smiley react_with thumbs_up_to give_heart like_message
user list slack : who_is_in_our_chat people_in_workspace
channel create discord : new_room room_for
forum post create discord : start_topic open_topic new_topic
message delete discord : take_back_message unsend remove_post
role permission : what_may_he
# Documents, sheets, slides, notes
find text document : where_does_it_say does_it_mention
document info : how_many_pages how_many_words word_count who_is_author how_long_is_letter
comments by author : what_did_remark what_anna_commented
unprotect document password : take_off_password open_locked
numbered list insert word : one_two_three
header heading insert word : headline_above
delete paragraph : cut_out_passage
table add word : grid_with
auto fit column width table : just_wide_enough
block replace section header : everything_under_heading rewrite_section
custom style create : own_look
set workbook : calculation_mode
insert rows column excel : empty_line make_room one_more_row one_more_column
delete rows column excel : kick_out_lines
write range cell : put_numbers_into fill_cells type_into_cells
transform range : upside_down swap_rows_and_columns transpose
sheet layout freeze : keep_first_row top_row_stays hide_column column_wide top_row_visible keep_row_visible
    row_visible_when_scrolling header_visible first_row_stays
set table excel : make_real_table
trace formula : which_cells_feed where_does_result_come_from where_does_number_come_from
data update chart powerpoint : new_numbers_in_chart
optimize slide text fit : fit_on_slide text_overflows too_much_text
auto generate presentation powerpoint : make_whole_deck about_topic_deck
presentation info : how_many_slides
core properties author title : author_name_of_file
slide add powerpoint : extra_page
extract text slide presentation : all_words words_on_slides words_in
background color design : behind_text
query data source database notion : rows_in_notion filter_my_notion
data source create database notion : new_table_in_notion
block children page notion : what_is_on_page
append block children notion : add_paragraph_to_page
page property notion : one_value_of_page
comment page create notion : remark_on_page
page create post notion : fresh_page
page tree space confluence : how_is_wiki_organised
page diff confluence : what_changed_on_page what_did_he_edit
page history version : older_text how_page_was how_did_page_look how_did_article_look_before who_edited_article
page template confluence : form_for_pages
search user confluence : find_colleague find_person_in_wiki
recent changes note obsidian : which_notes_did_i_edit worked_on_lately
complex search query note obsidian : with_conditions
patch content insert heading note obsidian : under_heading below_heading
list files vault note obsidian : what_notes_do_i_have which_notes my_notes
page break : start_on_new_page new_page next_page start_new_page
merge cells : one_big_box join_boxes one_cell_out span_across boxes_into_one single_box one_big_cell four_boxes
    cells_into_one
alternating row table : zebra striped every_other_row stripes
numbered list bullet point : enumerated one_two_three dots list_of_points
search and replace find text : change_every_mention swap_word everywhere_in change_all_occurrences every_occurrence
    throughout
goal seek target formula : which_input_gives what_must_i_enter work_backwards what_value_would hit_target
    need_to_reach
conditional format rule : colour_if red_when turn_red red_if highlight_when colour_depending paint_cells_when green_if
    colour_when threshold exceed paint_when color_when paint_red
data validation allow restrict : only_allow dropdown_in_cell permitted_entries only_numbers limit_what_can_be_typed
    let_people_only
pivot table summarize : cross_tab group_and_total summarise_by sum_up_by cross_table totals_per group_by
defined name range : nickname_for label_for_cells give_cells_name named
picture effect image : shadow glow soft_edge mirror_image fancy reflection
bullet point list : dots key_points
periodic note daily weekly monthly : diary journal today_note day_log what_did_i_write_today yesterday week month day
    today
page view confluence : how_many_people_read how_often_read popular readers who_looked visits seen_by how_many_looked
    looked_at
document create : new_letter start_document blank_document
document text get : what_does_letter_say what_is_in_docx
document pdf convert : as_pdf into_pdf print_version form_i_can_print can_print printable_form for_printing
document replace text : change_word_everywhere every_mention
paragraph insert : sentence_after squeeze_in_sentence sentence_in_between line_after
footnote add : note_at_bottom_of_page source_at_bottom
footnote style customize : little_numbers numbers_at_bottom
table alignment cell : centre_text center_text text_in_middle
table rows alternating : zebra stripes every_other_row
comment document get : remarks_in_letter what_did_reviewers_write
protect document password : nobody_change_letter lock_letter
cells read range : what_is_in_cell numbers_in_column
cells write range : put_number_in_cell
format conditional : red_when_above colour_by_value color_by_value
chart create : draw_curve picture_of_numbers bar_for show_numbers_as
pivot table create : totals_per_month sum_by_region per_region
sort range : biggest_first by_name_order
goal seek : what_price_to_reach how_much_must
sheet create : another_tab_in_workbook
sparklines : mini_trend tiny_lines tiny_charts little_lines_in_cells mini_charts
presentation create : new_deck slides_about start_deck
slide add : one_more_slide another_slide
slide text extract : words_of_deck what_do_slides_say words_on_slides
slide transition : how_slides_change_over
picture effect : shadow_on_photo soft_edges
page create : new_wiki_page write_up_in_wiki article_in_wiki
page update : change_wiki_text fix_wiki_page correct_article
page search : article_about somewhere_in_wiki i_remember_page wiki_about
page move parent : page_under_other put_article_under
page views : how_many_read_page anyone_reading
page children : pages_below
page restrictions : who_may_read_page keep_page_private only_team_sees_page
page template : form_for_page
block append : add_line_to_page
data source query : rows_with_status filter_table_in_notion
note append : add_line_to_note jot_down add_thought
note daily periodic : what_did_i_write_today today_in_my_diary my_diary_today
note search : where_did_i_write_about note_about did_i_write
note recent changes : notes_i_worked_on
file delete note : old_note_away
slide template apply : use_ready_made_layout
slide from template create : slide_with_layout
presentation template create : deck_from_sample
presentation save : keep_deck
presentation open : continue_with_deck
presentation auto generate : make_me_deck whole_deck_about
image manage slide : photo_on_slide
table add slide : grid_on_slide
chart update data : new_numbers
chart add slide : diagram_on_slide
shape add : box_on_slide arrow_on_slide
connector add : line_between_boxes
font manage : other_letters
hyperlink manage : make_it_clickable
bullet points add : key_points_on_slide three_points
professional design apply : make_slides_prettier look_more_professional
heading add : title_above chapter_heading
picture add document : photo_in_letter
table add document : grid_in_letter
list numbered insert : numbered_points
text format : make_bold words_red bigger_letters
table format : nicer_borders borders_for_table make_table_prettier
cell shading table : colour_of_box
header highlight table : first_row_stand_out
document copy : second_version_of_letter
document outline : chapters_of_letter
documents list : which_letters which_word_files
workbook create : new_spreadsheet
workbook list : spreadsheets_in_folder which_spreadsheets lying_in_folder
workbook export : spreadsheet_as_file
csv import : comma_separated_into load_csv
csv export : sheet_as_csv
rows insert : empty_row room_for_row
range clear : empty_these_cells
range copy : same_cells_elsewhere
cells find : which_cell_contains where_in_sheet
cells replace : change_all_cells
data validation add : only_allow_values
note set cell : remark_on_cell
defined name set : nickname_for_cells
image insert sheet : picture_in_sheet
slicer add : buttons_to_filter
vba read : code_in_spreadsheet macros_inside
# Literature and knowledge
watch topic paper : new_papers come_out tell_me_about_new_papers
check alerts new paper : anything_new_on_my_topics
download paper : onto_my_machine get_me_study preprint_onto paper_onto_my_computer get_paper onto_my_computer
search paper text passage : where_in_paper talk_about in_paper
get related topics wikipedia : what_else_could_i_read see_also
connectivity test wikipedia : can_we_reach_wikipedia
get sections article wikipedia : parts_of_article
summary article wikipedia : who_was short_text_about
pdf outline zotero : chapters_of_book
read pdf pages zotero : pages_of_book
add item doi zotero : new_book_in_library put_paper_into_library by_doi isbn
attach file item zotero : hang_pdf
item children child zotero : what_hangs_on_book
switch library group zotero : shared_library other_library
tags zotero : keywords_i_use
set item collections zotero : put_book_on_shelf
synthesize annotation zotero : pull_together_marks
open nodes entity memory : what_do_you_know_about
create relations memory : is_married works_at knows friend_of is_his_wife works_for is_boss_of is_sister_of
    are_married
create entities memory : get_to_know new_person remember_person new_person_to_remember
citation key bibtex : cite_key
papers search : research_about studies_about articles_on science_on anything_published scientific_articles
paper read : what_does_study_say text_of_study
paper abstract : what_is_paper_about study_in_short
citation graph : who_cites_this_paper which_papers_build_on
bibliography export : list_of_sources_for_thesis references_for_thesis
item add library : put_book_into_library
annotations get : what_did_i_underline my_highlights passages_i_marked
collection items : what_is_in_my_folder_of_papers
article get wikipedia : read_up_on tell_me_about_history encyclopedia_entry whole_encyclopedia_text encyclopedia_text
    full_article entire_article
summary wikipedia : who_was what_is_known_about short_introduction_to
key facts extract : most_important_things
observations add memory : remember_that keep_in_mind_that note_that_he_likes do_not_forget_that likes
observations delete memory : forget_that no_longer_true forget_what_i_told forget_about
nodes search memory : what_do_you_know_about do_you_remember what_did_i_tell_you stored_in_memory
    what_have_we_stored_about know_about_my
graph read memory : everything_you_remember all_you_know everything_you_know
# Smart home, devices, media
get overview home ha : what_is_in_my_house everything_in_house
operation status ha : did_lamp_really
dashboard config ha home : screen_on_wall tablet_on_wall
card type dashboard ha : tile
backup home ha : before_i_change_house
domain docs service ha : what_can_i_do_with_lights
remote device cloud allocate mobile : real_phone device_farm phone_in_cloud from_farm
release remote device mobile : give_phone_back finished_with_phone
device log mobile : what_phone_writes
crash mobile app : app_died
set location gps device mobile : pretend_phone_is
type keys text mobile : type_on_phone
open url mobile : open_site_on_phone on_the_tablet on_tablet site_on_phone
press button mobile : home_button volume_up back_button
voice library search elevenlabs : other_peoples_voices
text to voice design generate elevenlabs : made_up_voice invent_voice
speech to voice change elevenlabs : other_voice same_words_other_voice
composition plan music : outline_of_song
add knowledge base agent elevenlabs : teach_bot feed_bot
simulate conversation agent : test_call practice_talk
list agents : which_bots phone_assistants which_assistants bots_have_i_built assistants_have_i
phone numbers list : which_lines
call service control ha home : turn_on turn_off switch_on switch_off open_blinds close_blinds blinds curtain shutter
    lock_door vacuum fan heater garage_door dim unlock_door make_it_warmer turn_up_heating set_heating
screen size resolution mobile : how_big_is_display pixels display_size dimensions_of_display
sound effect : noise_of bang explosion door_creak noise thunder footsteps rain_sound
video to music : soundtrack_for_film
image generation : draw_me paint_me picture_of_a
entity state get home : how_warm_is_it is_light_on is_door_open is_window_open did_i_leave is_anyone_home battery_of
    how_much_power_is is_garage_open temperature_in oven_on iron_on is_heating_on is_it_locked
service call home control : turn_lights_on turn_lights_off lamp_on lamp_off light_on light_off make_it_warmer
    make_it_cooler open_garage lock_door close_blinds start_vacuum heating_up play_in_living_room dim_lights
    switch_coffee_machine coffee_machine_on washing_machine machine_on_at_home fan_on heater_on radio_on tv_on
    television
bulk control home : all_lights_off everything_off whole_house_dark
automation set home : every_evening at_sunset when_i_come_home whenever_door_opens when_motion automatically_at_night
automation remove home : no_longer_automatically stop_automatically
script set home : bedtime_routine good_night_routine movie_night routine_for
backup create home : safe_copy_of_house save_house_settings
logbook home : who_was_at_door what_happened_at_home when_did_door
entities search home : which_lamps which_devices_at_home what_sensors
app launch mobile : open_app start_app_on_phone
app terminate mobile : close_app kill_app quit_app quit_game close_game quit_on_phone stop_app_on_phone
app install mobile : put_app_on_phone
app list mobile : which_apps_on_phone
screen elements mobile : what_is_on_phone_screen buttons_on_screen
screenshot mobile : picture_of_phone_screen
orientation set mobile : turn_phone_sideways phone_sideways hold_phone_upright
location set mobile : pretend_phone_is_in fake_gps
recording start screen mobile : film_phone record_what_i_do_on_phone
device list mobile : which_phones_connected
device allocate remote mobile : borrow_phone get_me_phone real_device
text to speech : read_this_aloud say_this_out_loud audio_from_text speak_this_text make_it_talk read_out
    type_up_recording what_is_said_in_recording write_out_recording recording_into_text
voice clone : sound_like_me copy_my_voice
sound effects : noise_of_rain sound_of_door sound_of
music compose : write_song make_tune background_music
audio isolate : remove_noise_from_recording clean_up_recording only_voice
outbound call : ring_customer phone_customer call_someone ring_him_up
transcript video : what_is_said_in_video words_of_video talk_about_in_clip said_in_clip text_of_clip
# Business, money, shop
workflow automation hubspot : marketing_automation automatic_mails campaign_flow drip
create property hubspot : extra_field_for_customers new_field_on_contacts
search objects hubspot : find_customer which_customers
list associations hubspot : who_belongs
get link hubspot : address_of_record open_in_crm
user details token hubspot : which_crm_account
batch create object hubspot : new_leads new_customers enter_contacts
payment create charge : take_money_from charge_card bill_customer collect_payment
invoice create send : send_bill bill_to_customer write_bill
refund create payment : money_back give_money_back return_money
subscription cancel : stop_paying end_membership
customer create : new_buyer sign_up_customer
product list : what_do_we_sell what_is_in_shop
order list get : what_did_they_buy who_ordered has_it_been_shipped where_is_my_parcel
inventory stock get : how_many_left_in_store do_we_still_have sold_out
revenue report sales : how_much_did_we_make how_much_did_we_earn how_are_sales money_made
analytics report traffic : how_many_visitors who_visits_our_site how_many_people_visited
stock price quote : how_is_apple_doing share_price what_is_share_worth
balance account : how_much_money_do_i_have what_is_on_my_account
exchange rate currency convert : how_many_dollars how_many_euros what_is_it_in_dollars
weather forecast : will_it_rain do_i_need_umbrella is_it_going_to_snow what_will_weather_be how_cold_outside
    sunny_tomorrow
weather current : how_warm_outside is_it_raining
flight search : fly_to cheapest_way_to_fly plane_to
hotel search : place_to_stay_in somewhere_to_sleep room_for_two_nights
image generate : draw_me paint_me make_picture_of picture_of_cat
image edit : remove_background make_photo_brighter cut_out_person
image analyze describe : what_is_in_this_picture who_is_on_photo read_text_in_picture
video generate : make_clip
translate text : say_in_french what_does_this_mean_in
math calculate : what_is_two_plus how_much_is solve_equation
unit convert : how_many_inches in_celsius how_many_pounds
random number : roll_dice toss_coin
reminder create : do_not_let_me_forget remind_me
task create : add_to_my_list to_my_todo_list
task complete : finished_my_task crossed_off
task list : what_do_i_still_have_to_do my_chores
password get secret : what_is_password_for
ssh command execute server : log_into_server run_on_server
docker container list : which_containers_run what_is_docker_running
docker container start : bring_container_up
docker container stop : shut_container_down
docker image pull : get_image
vulnerability scan security : is_our_code_safe any_holes known_weaknesses
domain dns : who_owns_domain
certificate expire : when_does_certificate_run_out
recipe search : what_can_i_cook dinner_with
song play music : put_some_music_on play_something
playlist create : mix_of_songs
health data : how_did_i_sleep how_many_steps
course search : where_can_i_learn
law case search : what_does_law_say
drug medicine search : side_effects
# APIs, agents, the rest
run collection test postman : try_all_calls fire_all_requests
duplicate collection copy postman : copy_of_my_calls
generate collection spec postman : calls_from_description
generate spec collection : description_from_calls openapi_from_calls made_out_of_calls calls_out_of_swagger
    requests_from_swagger calls_from_openapi out_of_openapi ready_to_fire
tagged entities postman : everything_tagged
publish mock public postman : fake_server_for_everyone
spec file postman : part_of_description
simulated logging toggle everything : random_messages
get sum number : one_plus_one
tiny image : little_picture
annotated message : sample_message
api request http : raw_call arbitrary_call hit_endpoint any_endpoint not_covered_otherwise
environment variable env : system_settings process_variables
weather alert : storm_warning
image analysis vision : what_is_in_the_picture recognise ocr
contact customer create objects crm : new_client new_lead enter_client met_new_customer
contact search objects crm : find_client which_clients customers_in_city
objects update crm : client_moved change_phone_of_client client_new_address
engagement create note : talked_to_client note_about_call log_call
associations create : works_at_company belongs_to_company
design figma data : what_does_mockup_look colours_in_design what_designer_drew
figma images download : icons_out_of_design
collection create api : bundle_of_calls
request create collection api : add_call_to
mock create server : fake_backend pretend_backend
collection run : fire_all_calls
environment create : set_of_variables
spec create api : describe_our_api
thinking sequential : think_this_over one_step_after_other think_it_through
tools search available : is_there_function what_can_you_do_with
health check : is_service_ok is_everything_working are_you_there
credit usage : how_much_do_i_have_left how_many_credits
subscription check : what_plan_am_i_on characters_left how_many_characters
spec sync collection : bring_calls_up_to_date
workspace create : new_working_area separate_area area_for_team
mock list : which_fake_servers fake_backends
environments get : sets_of_variables
collection replace put : overwrite_bundle overwrite_calls
collection duplicate : copy_of_bundle
spec file create : another_yaml add_yaml_to_description
authenticated user : whose_account_is_this
drive file content : read_doc_in_cloud open_doc_google doc_in_my_google
drive file search : somewhere_in_my_drive
drive file permissions : who_can_see_my_file who_has_access_to_my_doc
drive file public access : can_strangers_see is_it_public
drive access manage : let_him_edit take_away_his_access stop_sharing give_him_rights
drive folder create : folder_in_my_drive
drive file update : rename_doc move_doc_in_drive
drive file download url : link_to_download
focus time manage : no_meetings_please time_to_concentrate
calendars list : which_calendars
# Across all fields
flag audit log history : who_switched_flag who_turned_flag who_flipped_flag who_changed_flag when_was_flag
    flag_switched_off_by flag_turned_off_yesterday
audit log entries : who_did_that who_was_it who_deleted_it who_turned_off who_switched_off what_did_admin
usage data download : build_minutes minutes_burned burn_minutes minutes_used used_last_month consumed_last_month
    spent_last_month
bulk update issues : set_all_tickets all_tickets_in_one_go change_priority_of_all set_all_of_these
    several_tickets_at_once tickets_at_once
related topics : close_subjects subjects_close neighbouring_subjects what_else_belongs related_subjects things_like
search elements collection request : saved_call saved_request api_call_somewhere
database query run sql : how_many_customers how_many_orders how_many_users_signed_up signed_up look_in_database
    pull_from_database ask_database out_of_database rows_where number_of_customers top_customers
execute tool : use_other_function one_of_other_functions use_one_of_functions
shards node index : spread_over_nodes distributed_over data_spread where_does_index_live
analyze source database : existing_mysql move_to_dynamo before_we_migrate look_at_existing old_database
    existing_schema
hash set field : store_in_map put_in_map store_user_map remember_for_user keep_in_hash
user profile : job_title phone_of contact_details_of what_is_his_job what_does_she_do reach_him who_is_that_person
    his_phone_number colleague_phone title_and_phone
search documentation : what_does_amazon_write what_does_manual_say what_do_docs_say ask_manual look_in_manual
    what_does_documentation read_the_manual according_to_docs
aws documentation search : amazon_manual amazon_docs what_does_amazon_say amazon_page aws_manual
cypher write graph : add_to_graph_database graph_database_new add_node_to_graph put_into_graph
cypher read graph : friends_with_whom ask_graph graph_question who_knows_whom who_is_connected_with
update file repository : change_readme fix_readme edit_on_website edit_file_in_repo without_cloning directly_in_repo
update item metadata : year_is_wrong book_is_wrong wrong_author wrong_title_of_book correct_year fix_metadata
complex search note : several_conditions match_conditions notes_that_match both_conditions
monitor check history : past_results earlier_checks results_of_watching what_did_watching_find
import google doc : turn_word_into_google_doc word_file_google make_google_doc docx_into_google
network request detail : what_did_server_answer exactly_server_answer headers_and_body answer_of_call
    response_of_request
alert firing rule list : what_is_firing anything_firing is_anything_alerting
delete : can_go away_with out_with do_away not_needed_anymore no_use_for useless superfluous is_outdated can_be_thrown
    served_its_purpose must_go should_go not_there_anymore by_mistake by_accident accidentally was_mistake
update : is_wrong is_outdated out_of_date needs_correcting no_longer_correct should_say should_read not_right
    incorrect
width resize : too_narrow too_wide not_wide_enough too_small too_large does_not_fit
resolve close : argument_settled is_settled is_over i_fixed_it has_been_fixed taken_care_of problem_solved we_are_done
    done_with_that
acknowledge alert group update : taking_care_of_it i_am_on_it i_have_seen_alert i_will_handle got_the_page tell_pager
    seen_the_alert
create : separate_place fresh_one start_fresh home_for place_for brand_new
group create : home_for_repos department_repos umbrella_for_projects
extension reader : addons_for_hosting add_ons_for_hosting which_add_ons
user reader netlify : my_hoster web_host web_hoster hosting_account
netlify site : web_hoster web_host hosting hoster
javascript evaluate script : js bit_of_js
docs query library : how_do_i_use_hooks check_current_docs how_do_i_use_library current_docs how_to_use_package
    which_function_in_library up_to_date_docs documentation_for_library pandas react django numpy vue
record get : whole_entry one_entry that_one_row single_entry
bases list : what_do_i_keep_in_airtable
comments get card : said_about_card people_say_card
monitor run : look_right_now check_now instead_of_waiting right_away_check
search issues sentry error : blowing_up what_is_blowing_up failing_in_production broken_in_production
    production_errors breaks_for_users
button press : louder quieter volume home_screen_of_phone
crash get mobile : why_did_app_die app_died app_crashed app_quit_itself app_closes
query run sql : top_products best_selling pull_out_of_db sales_per out_of_our_db last_month_from_database
    from_our_analytics
file contents vault : open_my_note shopping_note shopping_list_note read_my_note my_note_about
voices search : male_speaker female_speaker deep_voice narrator_in_my speaker_in_my_collection
annotation update : make_mark_green change_colour_of_mark yellow_mark recolor_highlight text_of_marker marker_on_graph
    change_marker
pull request review comments : reviewers_complain complain_about_code what_do_reviewers_want reviewers_say
    feedback_from_reviewers
crawl status check : through_with_pages done_crawling pages_yet finished_crawling
agent research web : collect_from_web all_over_web from_many_sites gather_from_sites founders_of compile_list_from_web
developer search github issues : anybody_else_run_into has_anybody_else anyone_else_have_bug same_problem_elsewhere
data source update : how_table_is_set_up set_up_of_table change_columns_of_notion
tags list : which_keywords what_tags
label update color : tag_another_colour other_colour_for_tag tag_colour colour_of_tag label_another_colour recolour
design apply slide : jazz_up prettier_slides liven_up spice_up smarten_up slides_look_boring boring_slides
pull request merge list : changes_waiting waiting_to_go_into_main go_into_main open_merge_requests unmerged_changes
tags list email : keywords_for_mails mark_mails_with
endnote footnote add document : source_reference reference_at_end at_very_end_of_essay note_at_end explain_term
    small_print_below
extract data page : prices_on_page get_prices data_from_page as_data
metric data cloudwatch : how_hard_was_server server_working server_load busy_server how_busy_is_server under_load
restrictions page get : who_may_read_article who_may_see_page who_may_edit_page
traces search : requests_took_longer slow_requests longer_than_seconds took_longer_than took_seconds
comment edit update : typo_in_what_i_wrote typo_in_my_comment wrong_in_what_i_said correct_my_remark
    what_i_wrote_is_wrong
drive items list : google_folder in_my_google what_is_in_my_drive google_drive_folder
scale replicas deployment : copies_of_shop run_five_copies more_visitors expect_more_traffic copies_of_service
    instances_of
users list workspace : who_is_in_our_slack who_is_in_slack everyone_in_workspace people_in_slack
collections list : groups_of_requests bundles_of_requests which_calls_do_i_have
postman collection : api_client api_tests saved_calls
screenshot take mobile : what_phone_shows phone_shows see_phone on_phone_display show_me_phone
issue update resolve : crash_is_fixed crash_fixed bug_is_fixed error_fixed
elements observe snapshot : things_can_be_clicked what_can_be_clicked clickable_things what_is_clickable
backlog move issues : not_manage_this_sprint too_much_for_sprint not_this_sprint will_not_make_it tickets_too_much
papers related similar : studies_similar similar_studies similar_papers papers_like_this work_like_this
media read file : open_jpg open_picture_on_disk look_at_photo_file jpg png mp3_file
service call home : switch_oven_off blinds_down blinds_up
message send : give_word say_hello tell_him tell_her tell_them
alarm set alert rule : get_warned be_warned
record search : find_entry which_entry
table create : new_grid new_list_for
comment create : write_underneath
attachment upload : attach_picture hang_file
version get : which_version_runs what_version
permission check : am_i_allowed_to
image insert : put_logo place_picture
chart delete : diagram_away
sheet delete : tab_away
sheet rename : tab_called
sheet copy : same_tab_again
range format : bold_numbers as_currency number_format
document header : text_at_top
heading insert : new_chapter
page move : elsewhere_in_wiki
commit create : save_my_work put_on_record check_in_my_changes
branch checkout switch : go_over_to_branch change_branch
diff unstaged : what_did_i_change_so_far what_have_i_changed my_edits_so_far
diff branch compare : how_do_branches_differ
status git : where_do_i_stand what_is_modified
add stage : include_file_in_commit
file push repository : put_files_on_github
milestone update : postpone_goal
project create : kick_off_project
cards list : what_is_in_column cards_in_column
activity recent board : what_happened_on_board
checklist items : steps_still_open
logs kubectl : what_did_pod_print
context set cluster : work_on_staging_cluster
oncall team list : which_teams_are_on_call
dashboard versions : earlier_dashboard
incident get : tell_me_about_outage
crash list : which_crashes
profile types : what_can_be_profiled
query prometheus : value_right_now at_this_very_moment
namespace list : which_namespaces
database connect : hook_up_to_database
database disconnect : hang_up_from_database
documents export : dump_records
collection indexes : which_indexes
document delete : record_away
stream group create : team_of_workers
stream group destroy : workers_no_longer team_of_stream_workers
pubsub subscribe : hear_messages
hash field exists : is_there_value_for
vector get : embedding_back
vector set : store_embedding
location set : pretend_to_be_in
clipboard get set : what_i_copied paste_text
apps list : what_is_installed
url open : open_link
swipe screen : scroll_phone flick_up
double tap : tap_twice
keys type : type_on_phone
device logs : what_phone_logs
voice get : about_this_voice
models list : which_models_are_there
agent create : new_phone_bot
conversation get : what_did_caller_say
conversations list : past_phone_calls who_called
knowledge base add : teach_bot
music video : soundtrack_for_clip
library switch : shared_library
item delete : book_out_of_library
item children : what_hangs_on_book
collection create : new_shelf
collection delete : shelf_away
fulltext item : whole_text_of_book
annotation delete : unmark_passage passage_no_longer_highlighted no_longer_highlighted unhighlight mark_away
notes get : what_did_i_jot
tag search : everything_tagged
citation key search : by_cite_key
paper section read : that_chapter_of_paper
paper latex : tex_source formulas_of_paper
topic watch : keep_me_posted_on_research
alerts check : anything_new_for_me
abstract get : in_few_lines
recommend docs : what_else_should_i_read
sections read : only_that_chapter
summarizer : sum_up_results
scrape page : pull_text_from_page
feedback send : tell_makers
heap snapshot : ram_hungry
emulate media : dark_mode print_view
emulate network : slow_connection
drag element : pull_over
hover element : mouse_over
file upload form : attach_to_form
network request get : that_one_request
tabs close : shut_tab
session create browser : start_cloud_browser
session close browser : end_cloud_browser shut_cloud_browser
css styles get : which_colour_has_button what_font
insight performance analyze : what_slows_page
docs search get : handbook_say what_does_handbook says_about_variables
projects find sentry : which_apps_error_tracker apps_does_tracker_watch tracked_apps
checklist items find : on_which_tick_list which_tick_list which_checklist
css styles : why_is_heading_blue which_rules_apply why_is_it_blue css_rules where_does_colour_come_from
search wikipedia : encyclopedia_entry_on is_there_encyclopedia is_there_article_on
screenshot take page : picture_of_site photo_of_site site_as_it_is_now picture_of_website how_site_looks
annotation : marker_on_graph marks_on_graph
hash get field : field_of_user email_of_user_in_cache
monitor delete : stop_keeping_eye stop_watching_site stop_watching_page no_longer_watch_website
upload : put_photos put_pictures onto_server
database add extension : database_for_site
monitor list : which_sites_do_you_watch which_pages_are_watched
monitor update : check_more_often
watch list : what_do_i_follow
subscription list : what_am_i_subscribed
member remove : throw_out_of_team kick_out off_the_team
member add : let_into_team join_team
label remove : take_tag_off
label add : put_tag_on stick_label
assignee update issue : someone_else_should_do
due date update : until_friday postpone_until
attachment delete : file_off_page
page restrictions set : only_for_my_team hide_page_from
template create page : from_blueprint
cell color table : paint_box
picture add : place_photo insert_photo
audio play : let_me_hear_it play_it_back
file delete : get_rid_of_file
record attachment upload : photo_to_row
comments list record : remarks_on_row
transform range duplicate : occur_twice duplicate_rows double_rows same_row_twice
extract page content : text_off_page text_of_pages
merge request diff file : altered_by_mr changed_by_mr what_did_mr_change
deep search automation : which_automations_use in_which_automation
folder create dashboard : place_for_graphs keep_graphs_together
conversation simulate : made_up_customer try_bot_out test_bot try_out_bot
commit show : what_was_in_commit in_last_commit
"""
"""What people say, and the words in which tools would put it, all of them together: `words : sayings`."""

FORMS = """
write wrote written writing; send sent; make made; tell told; say said; find found; keep kept; buy bought; pay paid
build built; break broke broken; choose chose chosen; draw drew drawn; fall fell; hold held; hide hid hidden
know knew known; leave left; lose lost; meet met; speak spoke spoken; take took taken; think thought
throw threw thrown; give gave given; go went gone; come came; get got gotten; see saw seen; do did done; run ran
begin began begun; forget forgot forgotten; show shown; spend spent; teach taught; catch caught; feel felt; hear heard
sell sold; stand stood; understand understood; bring brought; stick stuck; set setup; have has had; be was were been
ring rang; hang hung; sit sat; drive drove driven; fly flew flown; eat ate eaten; lead led; wake woke; shut shutting
color colour colours coloured colored; organize organise organised organising; center centre; organization organisation
summarize summarise; analyze analyse analysing; categorize categorise; visualize visualise; optimize optimise
synchronize synchronise; customize customise; favorite favourite; catalog catalogue; gray grey; program programme
person persons; what whats; not dont isnt doesnt cant; picture pictures pics pic; number nr; repository repositories
information infos; document documents docs; message msg; configuration cfg; directory directories
"""
"""A word, and others that are forms or spellings of it."""

FILLERS = """
a an the my our your his her their its this that these those some any of me us please
"""
"""Words that may stand anywhere in a phrase."""

LIGHT = """
get take give put make have go come look let turn keep bring hand throw set how what who where when which why do be see
tell say find out up down off on in over away back show know leave hold pull run call want need use all one more much
many long far big new old good right left way thing last next first work other another same only now people something
anything everything different own try happen still yet
"""
"""Words that say little inside a phrase."""

PLAIN = """
able above across act actually afraid afternoon age ago air almost alone along always among anna anybody anything
apart apple april area arm around arrive article asia august aunt autumn baby bad bag ball band bar beach bear beat
beautiful become bed before behind believe bell below beside best better beyond bicycle big bill bird birth birthday
bit black blood blow blue boat body bone boot bored born boss both bottle bottom bowl boy brain brave bread breakfast
bridge bright bring brother brown brush budget burn bus busy butter cake calm came camp candle cap captain car care
carry case cat cause center century certain chair chance cheap cheese chicken chief child children church circle city
class clear clever climb cloud coat coffee cold college color comfort common cook corner corn country couple courage
course cover cow cream cross crowd cry cup curve cut dad dance danger dark daughter day dead dear december decide deep
deer depend desk dinner dirt dish doctor dog dollar door double doubt down dream dress drink drive dry duck dust duty
each ear early earn earth east easy eat edge egg eight either electric elephant else empty enemy energy engine enjoy
enough enter equal europe even evening ever everybody everyone everywhere evil exam excuse expect eye face fact fair
fall family famous far farm farmer fast fat father fear feather february feed feel few fight film final fine finger
fire first fish fit five fix flag flat float floor flower fly foggy follow food foot football foreign forest fork
former forty forward four fox free friday friend from front fruit full fun funny furniture future game garden gate
general gentle gift girl glad glass gold good grass gray great green ground grow guess guest guide gun guy habit hair
half hall hand happen happy hard hat hate head healthy heart heat heaven heavy help hen her hide high hill him hobby
holiday honest honey hope horse hospital hot hour house huge human hundred hungry hurry hurt husband ice idea
important inside iron island january job joke juice july jump june kind king kiss kitchen knee knife lady lake lamp
land language large last late later laugh law lazy leaf learn least leather leave leg lemon lesson letter level lie
life lift light lion lip little live local lonely long lord lot loud love low luck lunch mad magic main man many march
mark market married master matter maybe meal mean meat medicine meet member men menu metal midnight might mile milk
million mind minute mirror miss mistake mix modern mom moment monday money monkey month moon more morning most mother
mountain mouse mouth much mud must nail narrow nation nature near nearly neck need needle neighbor neighbour never
nice night nine nobody noise none noon north nose nothing november now nurse obvious ocean october office often oil
old once onion only onto orange order other outside oven over own page pain paint pair pan parent park party past
peace pen pencil pepper perfect perhaps period pet piano pick piece pig pilot pink plane plant plate please plenty
pocket poison police polite pool poor popular possible potato pound power pretty price prince print prison prize
probably promise proper proud public pull pupil pure purple push queen question quick quiet quite race radio rain
raise ran rather reach real really reason red rest rice rich ride right ring river road rock roof room root rose round
rule sad safe sail salt same sand saturday scared scene school science sea season seat second secret seed seem sell
september serious serve seven several shade shadow shake shall sharp sheep ship shirt shoe shoot shop shore short
shoulder shout shower sick side silver simple since sing single sister sit six size skill skin skirt sky sleep slip
slow slowly small smell smile smoke snake snow soap sock soft soldier somebody something sometimes somewhere song soon
sorry sound soup south spare special spell spoon sport spot spring square stair stamp star station stay steal steam
stone store storm story strange street strong student stupid such sudden sugar suit summer sun sunday sunny sure
surface surprise sweet swim sword sydney table tail tall taste tea teach teacher team tear ten tennis terrible thank
theirs thick thief thin thirsty thirty thousand three thursday ticket tie tiger tight till tin tiny tired today toe
together tomato tomorrow tongue tonight too tool tooth top total touch tower town toy trade train travel tree trip
trouble true trust truth tuesday twelve twenty twice two type ugly uncle understand unit until upon upset useful usual
valley very village visit voice walk wall war warm wash waste water weak wear wednesday week weekend weight welcome
well west wet wheel white whole whom whose why wide wife wild win wind window wine winter wise wish within without
woman women won wonder wood word world worry worst worth wrong yard year yellow yes yesterday yet young zero zoo
london paris berlin tokyo york bob alice john mary peter paul tom winner
"""
"""Everyday words that mean nothing here: no slips of the words above."""

STOP = """
out let each every everything still yet already instead away right one goes go
a an the of in on at to for from by with into onto about and or but if then than as is are was were be been am do
does did i me my we us our you your he she it its they them their this that these those there here can could will
would should may please want need like just some any very also so too not no yes s t how when where because while
during until again only der die das den dem des ein eine einen einem einer eines und oder im auf aus bei mit von vom
zu zum zur für ist sind mir mich mein meine ich du wir uns unser es wie bitte diesen diese dieser dieses machen el
la los las un una unos unas de del al en con por para y o mi mis su sus que son como otra otro le les une d l au aux
dans sur avec pour par et ou mon ma mes sa ses ce cette ces est sont qu
"""
"""Words that say nothing in a request."""
